"""The contents: all that the report shows, as plain values, before any of it becomes HTML."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.graph import Graph
from graspel.learning.certificate import Certificate
from graspel.learning.history import Round
from graspel.linalg import smallest_eigenpairs
from graspel.plot.fitted import graph_of, labels_of, learner_of
from graspel.plot.layout import best_view, placed_by
from graspel.plot.palette import shortened
from graspel.plot.spectrum import SHOWN, gap_of
from graspel.report.critical_edges import table_of_edges
from graspel.report.reproducing import how_to_reproduce
from graspel.report.thinning import Thinned, thinned

__all__ = ["Coloring", "Contents", "contents"]

LONGEST_LABEL = 60
MAX_CLASSES = 60  # with a color and a name of their own


@dataclass(frozen=True)
class Coloring:
    """One way to color the points: what it is (class or cluster), names and sizes, and the class of each point."""

    what: str
    names: list[str]
    sizes: list[int]
    classes: np.ndarray


@dataclass(frozen=True)
class Contents:
    """What the page shows: texts for people, and `data`, what its script draws (of types that JSON knows)."""

    title: str
    certificate: Certificate
    reproducing: list[tuple[str, str]]
    code: str
    drawn: str
    data: dict[str, Any]


def contents(model: Any, *, labels: Any, clusters: Any, title: str | None, source: str | None) -> Contents:
    """Gather what the report of a fitted model shows."""
    learner, graph = learner_of(model), graph_of(model)
    colorings = [
        coloring(what, given, graph.n_nodes)
        for what, given in (("cluster", labels_of(model, clusters)), ("class", labels))
        if given is not None
    ]
    n_pairs = min(max(SHOWN, 4), graph.n_nodes)
    pairs = smallest_eigenpairs(graph.laplacian, n_pairs, tol=1e-3, norm="energy", random_state=0)
    main = colorings[-1].classes if colorings else np.zeros(graph.n_nodes, dtype=np.int64)
    chosen = thinned(graph, main)
    places = placed_by(pairs.vectors)
    data = {
        "points": _points(graph, places[chosen.nodes], chosen),
        "edges": _edges(graph, chosen),
        "eye": best_view(places, main)[:, 2].tolist(),
        "colorings": [_shown_colouring(way, chosen) for way in colorings],
        "states": states(graph, learner.history_),
        "rounds": _rounds(learner.history_),
        "spectrum": {
            "values": pairs.values.tolist(),
            "gap": gap_of(pairs.values, graph.components[0]),
        },
        "table": table_of_edges(graph, colorings),
    }
    n_clusters = None if clusters is None else len(np.unique(np.asarray(clusters)))
    rows, code = how_to_reproduce(model, source, n_clusters)
    title = (
        shortened(title, 200)
        if title
        else (f"The graph of {shortened(source, 100)}" if source else "The learned graph")
    )
    return Contents(title, learner.certificate_, rows, code, _said_of(chosen, graph), data)


def coloring(what: str, given: Any, n_points: int) -> Coloring:
    """Names, sizes and classes; beyond 60 of them, the smallest are taken together."""
    values = np.asarray(given)
    if values.shape != (n_points,):
        raise ValueError(
            f"{what} labels of shape {values.shape}: the graph has {n_points} nodes, so it must be ({n_points},)."
        )
    if values.dtype.kind == "O":
        values = values.astype(str)
    kinds, classes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    names = [shortened(kind, LONGEST_LABEL) or "(empty)" for kind in kinds]
    if len(names) > MAX_CLASSES:
        largest = np.sort(np.argsort(-sizes, kind="stable")[: MAX_CLASSES - 1])
        place = np.full(len(names), MAX_CLASSES - 1)
        place[largest] = np.arange(MAX_CLASSES - 1)
        others = f"{len(names) - len(largest):,} others"
        names, classes = [*(names[k] for k in largest), others], place[classes]
        sizes = np.bincount(classes, minlength=MAX_CLASSES)
    return Coloring(what, names, sizes.tolist(), classes)


def states(graph: Graph, history: list[Round]) -> list[dict[str, Any]]:
    """The graph after 0, 1, 2, ... rounds: edges, density, and the largest distortion that the next round found."""
    n_rounds = len(history)
    if history and history[-1].n_added == 0:  # it found the graph stable, and left it as it was
        n_rounds -= 1
    counts = np.cumsum(np.bincount(np.minimum(graph.round, n_rounds), minlength=n_rounds + 1))
    found = []
    for done in range(n_rounds + 1):
        eta = history[done].max_eta if done < len(history) else float("nan")
        n_edges = int(counts[done])
        found.append({"edges": n_edges, "density": n_edges / graph.n_nodes, "eta": _number(eta)})
    return found


def _points(graph: Graph, places: np.ndarray, chosen: Thinned) -> dict[str, Any]:
    degree = np.bincount(np.concatenate([graph.heads, graph.tails]), minlength=graph.n_nodes)
    return {
        "places": _packed(places.T, "<f4"),
        "ids": _packed(chosen.nodes, "<i4"),
        "degrees": _packed(degree[chosen.nodes], "<i4"),
    }


def _edges(graph: Graph, chosen: Thinned) -> dict[str, Any]:
    """The edges drawn, by the places of their ends among the points drawn."""
    return {
        "heads": _packed(np.searchsorted(chosen.nodes, graph.heads[chosen.edges]), "<i4"),
        "tails": _packed(np.searchsorted(chosen.nodes, graph.tails[chosen.edges]), "<i4"),
        "rounds": _packed(graph.round[chosen.edges], "<i4"),
    }


def _shown_colouring(way: Coloring, chosen: Thinned) -> dict[str, Any]:
    return {
        "what": way.what,
        "names": way.names,
        "sizes": way.sizes,
        "classes": _packed(way.classes[chosen.nodes], "<i4"),
    }


def _rounds(history: list[Round]) -> list[dict[str, Any]]:
    return [
        {"round": record.round, "eta": _number(record.max_eta), "F": _number(record.objective), "added": record.n_added}
        for record in history
    ]


def _said_of(chosen: Thinned, graph: Graph) -> str:
    if len(chosen.nodes) == graph.n_nodes and len(chosen.edges) == graph.n_edges:
        return f"All {graph.n_nodes:,} points and {graph.n_edges:,} edges are drawn."
    return (
        f"Thinned for drawing: {len(chosen.nodes):,} of {graph.n_nodes:,} points and {len(chosen.edges):,} of "
        f"{graph.n_edges:,} edges are drawn, those of the rounds before others. All numbers are of the whole graph."
    )


def _packed(values: Any, kind: str) -> str:
    """Numbers as base64: a tenth of the time to read that JSON takes, and half the size."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def _number(value: float) -> float | None:
    """What is not finite becomes null in JSON."""
    return float(value) if np.isfinite(value) else None
