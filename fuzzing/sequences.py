"""Sequences: points come and go by `partial_fit` and `forget`, in batches of very different scale, named or not.

Every state is compared with a slow twin: the list of all rows and names so far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import graspel
from fuzzing.cases import Case, require
from fuzzing.limits import are_low, with_low_limits
from fuzzing.matrices import draw_points
from fuzzing.targets import Draw, Settings, choose, find_allowance
from fuzzing.twins import TIE, check_graph, count_wrong

FACTORS = (1.0, 1.0, 1.0, 1e-9, 1e15, 1e200, 1e-200)  # of the values of a batch
COUNTS = (1, 2, 5, 20, 60)  # rows of a batch
KINDS = ("add", "add", "add", "copies", "equal", "mask", "numbers", "names")
SHARES = (0.02, 0.1, 0.5, 0.9)  # of the nodes that are forgotten
MAX_STEPS = 7
MAX_ROWS = 250
SAME_SCALE = 100.0  # ratio of weights: the floor of distances stays that of the first batch, which changes single ones
LONGER = 2  # edges of old points that may miss a nearer new one where landmarks are searched (grown._nearest_arrivals)


def draw_sequence(rng: np.random.Generator) -> Case:
    """A first batch, and some more steps, each of them a setting: they can be dropped one by one."""
    X = draw_points(rng)
    X = (sp.csr_array(X) if sp.issparse(X) else X)[:MAX_ROWS]
    settings = choose(
        rng,
        n_neighbors=[1, 2, 5],
        metric=["cosine"],
        candidates=["clusters", "multilevel"],
        max_iter=[0, 3],
        weights=["refined"],
    )
    if not sp.issparse(X) and rng.random() < 0.3:
        settings["is_named"] = True
    kinds = [["add", "equal"][rng.integers(2) * rng.integers(2)], *rng.choice(KINDS, rng.integers(1, MAX_STEPS))]
    for number, kind in enumerate(kinds):
        amount = SHARES[rng.integers(len(SHARES))] if kind in FORGET else COUNTS[rng.integers(len(COUNTS))]
        settings[f"step_{number}"] = (str(kind), amount, FACTORS[rng.integers(len(FACTORS))])
    return Case("partial_fit", X, {**settings, "random_state": 0}, run_sequence, _write_code)


def _write_code(data: str, settings: Settings) -> str:
    return f"fuzzing.sequences.run_sequence({data}, {settings!r})"


def run_sequence(X: Any, settings: Settings) -> None:
    """Every graph is connected, with nearest neighbors and the right names; what is refused changes nothing."""
    parameters = {name: value for name, value in settings.items() if name[:5] not in ("step_", "is_na")}
    steps = [settings[name] for name in sorted(settings) if name.startswith("step_")]
    model = graspel.GRASPEL(**parameters)
    twin, refused = Twin(X, "is_named" in settings), None
    for number, step in enumerate(steps):
        before = getattr(model, "graph_", None)
        try:
            rows, names = twin.apply(model, step, np.random.default_rng(number))
        except ValueError as error:
            require(getattr(model, "graph_", None) is before, "a step that was refused has changed the graph")
            refused = refused or error
            continue
        twin.rows, twin.names = rows, names
        check_graph(model.graph_, rows.shape[0])
        found = model.graph_.node_names
        require((None if found is None else found.tolist()) == names, f"names {found} instead of {names}")
        check_lists(model, twin.rows, TIE)
        require(np.isfinite(model.transform(rows).data).all(), "a link to a new point is not finite")
    if hasattr(model, "graph_"):
        check_lists(model, twin.rows, 0.0)
        check_scale(model, graspel.GRASPEL(**parameters).fit(twin.rows))
    if refused is not None:
        raise refused


def check_lists(model: graspel.GRASPEL, rows: Any, tie: float) -> None:
    """Every neighbor edge joins a point to one of its nearest, with the allowance that the recall admits.

    No more of them are wrong than in a fit of the same rows, where a fit warns that it treats some as less far.
    """
    k, metric = model.n_neighbors, model.metric
    allowed = find_allowance(model.certificate_.neighbor_recall) * model.graph_.n_edges + LONGER * are_low()
    wrong = count_wrong(model.graph_, rows, k, metric, tie)
    if wrong > allowed:
        anew = graspel.GRASPEL(**model.get_params()).fit(rows).graph_
        wrong_anew = count_wrong(anew, rows, k, metric, tie)
        require(
            wrong <= wrong_anew + allowed,
            f"{wrong} edges join points that are not nearest neighbors, and {wrong_anew} after a fit of the same rows",
        )


def check_scale(model: graspel.GRASPEL, anew: graspel.GRASPEL) -> None:
    """Edges that a fit of the same rows has too have about the weights that it gives them."""
    keys = [graph.heads * graph.n_nodes + graph.tails for graph in (model.graph_, anew.graph_)]
    _, first, second = np.intersect1d(*keys, return_indices=True)
    ratio = np.median(model.graph_.weights[first] / anew.graph_.weights[second]) if len(first) else 1.0
    require(1 / SAME_SCALE < ratio < SAME_SCALE, f"weights are {ratio:.1e} times those after a fit of the same rows")


class Twin:
    """All rows and names so far, and the rows that come in turn."""

    def __init__(self, X: Any, is_named: bool) -> None:
        self.source, self.taken = X, 0
        self.rows: Any = X[:0]
        self.names: list[str] | None = [] if is_named else None

    def apply(self, model: Any, step: tuple[str, Any, float], rng: np.random.Generator) -> tuple[Any, Any]:
        """Change the model; return the rows and names that it should have now."""
        kind, amount, factor = step
        if kind in FORGET:
            gone = rng.random(self.rows.shape[0]) < amount
            model.forget(FORGET[kind](gone, self.names))
            names = (
                None if self.names is None else [name for name, out in zip(self.names, gone, strict=True) if not out]
            )
            return self.rows[~gone], names
        if kind == "copies" and self.rows.shape[0]:
            batch = self.rows[rng.integers(self.rows.shape[0], size=amount)]
        else:
            batch = self.source[np.arange(self.taken, self.taken + amount) % self.source.shape[0]]
            batch = batch[np.zeros(batch.shape[0], dtype=int)] if kind == "equal" else batch
            with np.errstate(all="ignore"):
                batch = batch if factor == 1.0 else batch.astype(np.float64) * factor
        start, self.taken = self.taken, self.taken + amount
        new = None if self.names is None else [f"p{start + number}" for number in range(batch.shape[0])]
        model.partial_fit(batch if new is None else pd.DataFrame(batch, index=new))
        stack = sp.vstack if sp.issparse(batch) else np.vstack
        rows = stack([self.rows, batch]) if self.rows.shape[0] else batch
        return sp.csr_array(rows) if sp.issparse(rows) else rows, None if new is None else [*(self.names or []), *new]


FORGET: dict[str, Any] = {
    "mask": lambda gone, names: gone,
    "numbers": lambda gone, names: np.flatnonzero(gone),
    "names": lambda gone, names: [names[node] for node in np.flatnonzero(gone)] if names else gone.tolist(),
}

SEQUENCES: dict[str, Draw] = {"sequences": draw_sequence, "sequences_low": with_low_limits(draw_sequence)}
