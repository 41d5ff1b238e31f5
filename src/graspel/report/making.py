"""How it was made: the graph after each round, the spectrum, resistance against distance, and how to get it again."""

from __future__ import annotations

import platform
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np

from graspel.findings import compare_resistance
from graspel.findings.resistance import describe_pairs
from graspel.graph import Graph, Origin
from graspel.learning.history import Round
from graspel.plot.canvas import clip_name
from graspel.plot.fitted import get_learner
from graspel.report.inputs import Inputs, Source
from graspel.report.packing import finite_or_none, pack

SHOWN = 20  # eigenvalues drawn, as in the paper's figures
MEASURED = 100_000  # nodes up to which resistances are measured: half a minute of one processor
LIBRARIES = ("graspel", "numpy", "scipy", "scikit-learn")
LONGEST_VALUE = 120  # characters of a value on the page; longer ones are cut


def list_states(graph: Graph, history: list[Round]) -> list[dict[str, Any]]:
    """The graph after 0, 1, 2, ... rounds: edges, density, and the largest distortion found on it.

    The distortion of a graph is found by the next round. A last round that adds no edge finds it for its own state too.
    """
    n_rounds = len(history)
    counts = np.cumsum(np.bincount(np.minimum(graph.round, n_rounds), minlength=n_rounds + 1))
    etas = [record.max_eta for record in history]
    etas.append(etas[-1] if history and history[-1].n_added == 0 else float("nan"))
    return [
        {"edges": int(n_edges), "density": int(n_edges) / graph.n_nodes, "eta": finite_or_none(eta)}
        for n_edges, eta in zip(counts, etas, strict=True)
    ]


def list_rounds(history: list[Round]) -> list[dict[str, Any]]:
    """What each round found and did."""
    return [
        {
            "round": record.round,
            "eta": finite_or_none(record.max_eta),
            "F": finite_or_none(record.objective),
            "gap": None if record.gap is None else finite_or_none(record.gap),
            "added": record.n_added,
        }
        for record in history
    ]


def describe_convergence(history: list[Round]) -> str:
    """What the charts of the rounds show, in a sentence."""
    if any(record.gap is not None for record in history):
        return "The upper bound of the gap to the best of all graphs, per node, and the objective F in each round."
    return "Largest distortion \N{GREEK SMALL LETTER ETA} and objective F (over the first eigenvalues) in each round."


def list_pairs(inputs: Inputs) -> list[dict[str, Any]] | None:
    """Resistance and distance of random pairs, near pairs and edges; None if the points are far away or too many."""
    graph = inputs.graph
    if inputs.index.is_remote or not graph.n_edges or graph.n_nodes > MEASURED:
        return None
    pairs = compare_resistance(graph, inputs.index.points, inputs.near, np.random.default_rng(0))
    drawn = pairs.take((pairs["z"] > 0) & (pairs["R"] > 0))
    packed = []
    for kind in dict.fromkeys(pairs["kind"].tolist()):
        some = drawn.take(drawn["kind"] == kind)
        packed.append({"words": describe_pairs(pairs, kind), "z": pack(some["z"], "<f4"), "R": pack(some["R"], "<f4")})
    return packed


def describe_spectrum(inputs: Inputs) -> dict[str, Any]:
    """The first eigenvalues, as many as are needed to show the gap, and how many lie before it.

    None are said to lie before it if that is not the number of groups: the page has one number of them.
    """
    gap = inputs.gap
    before = gap.n_clusters if len(gap.gaps) and inputs.n_groups == gap.n_clusters else None
    shown = max(SHOWN, (before or 0) + 2)
    return {"values": [0.0, *gap.values[: shown - 1].tolist()], "gap": before}


def describe_gap(inputs: Inputs) -> str:
    """What the spectrum says about the number of clusters, in sentences."""
    sentences = [f"Here: {inputs.gap.sentence()}."]
    if inputs.n_groups != inputs.gap.n_clusters:
        sentences = [f"The {inputs.n_groups:,} groups of this page do not rest on it."]
    n_critical = int((inputs.graph.origin == Origin.CRITICAL).sum())
    if n_critical:
        sentences.append(
            f"Clusters are found on the graph without its {n_critical:,} critical edges, which connect clusters; the "
            "eigenvalues are those of that graph."
        )
    if inputs.count is not inputs.gap:
        sentences.append(f"Several graphs were clustered. Together they give {inputs.count.sentence()}.")
    return " ".join(sentences)


def list_settings(model: Any, source: str | Source | None) -> list[tuple[str, str]]:
    """Names and values of all that the graph depends on: data, seed, parameters, versions."""
    learner = get_learner(model)
    name = source.name if isinstance(source, Source) else source
    rows = [("data", clip_name(name, LONGEST_VALUE) if name else "given in Python")]
    rows.append(("shape", f"{learner.certificate_.n_nodes:,} points, {learner.n_features_in_:,} features"))
    if learner.random_state is None:
        rows.append(("seed", "none was set: another run may differ a little; set random_state to repeat it exactly"))
    rows += [(name, _format_value(getattr(learner, name))) for name in signature(type(learner)).parameters]
    rows += [(f"{library} version", version(library)) for library in LIBRARIES]
    rows.append(("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"))
    return rows


def write_code(model: Any, clusterer: Any = None, reading: str | None = None) -> str:
    """Python code that fits the model to X again, and the clusterer if it is another one; `reading` makes X."""
    fitted = {"learner" if model is get_learner(model) else "model": model}
    if clusterer is not model and hasattr(clusterer, "learner_"):
        fitted["clusterer"] = clusterer
    learners = {"GRASPEL" for one in fitted.values() if getattr(one, "learner", None) is not None}
    names = sorted(learners | {type(one).__name__ for one in fitted.values()})
    lines = [f"{name} = {estimator!r}.fit(X)" for name, estimator in fitted.items()]
    return "\n".join([*([] if reading is None else [reading]), f"from graspel import {', '.join(names)}", "", *lines])


def _format_value(value: Any) -> str:
    return clip_name(repr(value), LONGEST_VALUE)
