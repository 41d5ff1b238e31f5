"""The contents: all that the report shows, as plain values, before it becomes HTML."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.cluster import find_eigengap
from graspel.graph import Graph, Origin
from graspel.learning.certificate import Certificate
from graspel.learning.eigengap import Eigengap
from graspel.learning.history import Round
from graspel.linalg import smallest_eigenpairs
from graspel.plot.fitted import get_graph, get_labels, get_learner
from graspel.plot.layout import best_view, place_nodes
from graspel.plot.palette import shorten
from graspel.plot.spectrum import SHOWN, gap_position, get_eigengap
from graspel.report.critical_edges import make_edge_table
from graspel.report.repeat import list_settings, write_code
from graspel.report.summary import describe_eigengap, without_critical_edges
from graspel.report.thinning import Selection, select_drawn

__all__ = ["Coloring", "Contents", "gather_contents", "list_states", "make_coloring"]

LONGEST_LABEL = 60  # characters of a class name on the page; longer ones are cut
MAX_CLASSES = 60  # classes with a color and a name of their own: ten colors and six symbols


@dataclass(frozen=True)
class Coloring:
    """One way to color the points.

    Attributes
    ----------
    kind : str
        "class" or "cluster".
    names : list of str
    sizes : list of int
        Number of points in each class.
    classes : array of N
        The class of each point.
    """

    kind: str
    names: list[str]
    sizes: list[int]
    classes: np.ndarray


@dataclass(frozen=True)
class Contents:
    """What the page shows.

    Attributes
    ----------
    title : str
    certificate : Certificate
    settings : list of (str, str)
        Names and values of all that the graph depends on.
    code : str
        Python code that learns the graph again.
    drawn : str
        A sentence about how much of the graph is drawn.
    eigengap : str
        A sentence about the eigengap.
    data : dict
        What the scripts draw, in types that JSON knows.
    """

    title: str
    certificate: Certificate
    settings: list[tuple[str, str]]
    code: str
    drawn: str
    eigengap: str
    data: dict[str, Any]


def gather_contents(model: Any, *, labels: Any, clusters: Any, title: str | None, source: str | None) -> Contents:
    """Gather what the report of a fitted model shows."""
    learner, graph = get_learner(model), get_graph(model)
    colorings = [
        make_coloring(kind, given, graph.n_nodes)
        for kind, given in (("cluster", get_labels(model, clusters)), ("class", labels))
        if given is not None
    ]
    n_pairs = min(max(SHOWN, 4), graph.n_nodes)
    pairs = smallest_eigenpairs(graph.laplacian, n_pairs, tol=1e-3, norm="energy", random_state=0)
    gap = get_eigengap(model)
    main = colorings[-1].classes if colorings else np.zeros(graph.n_nodes, dtype=np.int64)
    selection = select_drawn(graph, main)
    places = place_nodes(pairs.vectors)
    data = {
        "points": _pack_points(graph, places[selection.nodes], selection),
        "edges": _pack_edges(graph, selection),
        "eye": best_view(places, main)[:, 2].tolist(),
        "colorings": [_pack_coloring(coloring, selection) for coloring in colorings],
        "states": list_states(graph, learner.history_),
        "rounds": _list_rounds(learner.history_),
        "spectrum": _spectrum(graph, pairs.values, gap),
        "table": make_edge_table(graph, colorings),
    }
    n_clusters = None if clusters is None else len(np.unique(np.asarray(clusters)))
    return Contents(
        title=_make_title(title, source),
        certificate=learner.certificate_,
        settings=list_settings(model, source),
        code=write_code(model, n_clusters),
        drawn=_describe_selection(selection, graph),
        eigengap=_describe_gap(graph, gap),
        data=data,
    )


def make_coloring(kind: str, labels: Any, n_points: int) -> Coloring:
    """Names, sizes and classes from labels; if there are more than 60 classes, the smallest become one."""
    values = np.asarray(labels)
    if values.shape != (n_points,):
        raise ValueError(
            f"{kind} labels of shape {values.shape}: the graph has {n_points} nodes, so it must be ({n_points},)."
        )
    if values.dtype.kind == "O":
        values = values.astype(str)
    distinct, classes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    names = [shorten(value, LONGEST_LABEL) or "(empty)" for value in distinct]
    if len(names) > MAX_CLASSES:
        largest = np.sort(np.argsort(-sizes, kind="stable")[: MAX_CLASSES - 1])
        place = np.full(len(names), MAX_CLASSES - 1)
        place[largest] = np.arange(MAX_CLASSES - 1)
        others = f"{len(names) - len(largest):,} others"
        names, classes = [*(names[k] for k in largest), others], place[classes]
        sizes = np.bincount(classes, minlength=MAX_CLASSES)
    return Coloring(kind, names, sizes.tolist(), classes)


def list_states(graph: Graph, history: list[Round]) -> list[dict[str, Any]]:
    """The graph after 0, 1, 2, ... rounds: edges, density, and the largest distortion found on it.

    The distortion of a graph is found by the next round. A last round that adds no edge finds it for its own state too.
    """
    n_rounds = len(history)
    counts = np.cumsum(np.bincount(np.minimum(graph.round, n_rounds), minlength=n_rounds + 1))
    etas = [record.max_eta for record in history]
    etas.append(etas[-1] if history and history[-1].n_added == 0 else float("nan"))
    return [
        {"edges": int(n_edges), "density": int(n_edges) / graph.n_nodes, "eta": _finite_or_none(eta)}
        for n_edges, eta in zip(counts, etas, strict=True)
    ]


def _make_title(title: str | None, source: str | None) -> str:
    if title:
        return shorten(title, 200)
    return f"The graph of {shorten(source, 100)}" if source else "The learned graph"


def _pack_points(graph: Graph, places: np.ndarray, selection: Selection) -> dict[str, Any]:
    degree = np.bincount(np.concatenate([graph.heads, graph.tails]), minlength=graph.n_nodes)
    return {
        "places": _pack(places.T, "<f4"),
        "ids": _pack(selection.nodes, "<i4"),
        "degrees": _pack(degree[selection.nodes], "<i4"),
    }


def _pack_edges(graph: Graph, selection: Selection) -> dict[str, Any]:
    """The edges that are drawn; their ends are numbered among the points that are drawn."""
    return {
        "heads": _pack(np.searchsorted(selection.nodes, graph.heads[selection.edges]), "<i4"),
        "tails": _pack(np.searchsorted(selection.nodes, graph.tails[selection.edges]), "<i4"),
        "rounds": _pack(graph.round[selection.edges], "<i4"),
    }


def _pack_coloring(coloring: Coloring, selection: Selection) -> dict[str, Any]:
    return {
        "kind": coloring.kind,
        "names": coloring.names,
        "sizes": coloring.sizes,
        "classes": _pack(coloring.classes[selection.nodes], "<i4"),
    }


def _list_rounds(history: list[Round]) -> list[dict[str, Any]]:
    return [
        {
            "round": record.round,
            "eta": _finite_or_none(record.max_eta),
            "F": _finite_or_none(record.objective),
            "added": record.n_added,
        }
        for record in history
    ]


def _spectrum(graph: Graph, values: np.ndarray, gap: Eigengap) -> dict[str, Any]:
    """The first eigenvalues, as many as are needed to show the gap, and how many lie before it."""
    shown, before = values.tolist(), gap_position(graph, gap)
    if before is not None and graph.is_connected:
        shown += gap.values[len(shown) - 1 : before + 1].tolist()  # `gap.values` begin with the second eigenvalue
    return {"values": shown, "gap": before}


def _describe_gap(graph: Graph, gap: Eigengap) -> str:
    n_critical = int((graph.origin == Origin.CRITICAL).sum())
    without = find_eigengap(without_critical_edges(graph), random_state=0) if n_critical else None
    return describe_eigengap(gap, n_critical, without)


def _describe_selection(selection: Selection, graph: Graph) -> str:
    if len(selection.nodes) == graph.n_nodes and len(selection.edges) == graph.n_edges:
        return f"All {graph.n_nodes:,} points and {graph.n_edges:,} edges are drawn."
    return (
        f"Thinned for drawing: {len(selection.nodes):,} of {graph.n_nodes:,} points and {len(selection.edges):,} of "
        f"{graph.n_edges:,} edges are drawn, preferably those that the rounds added. All numbers describe the whole "
        "graph."
    )


def _pack(values: Any, dtype: str) -> str:
    """Numbers as base64 text: half the size of JSON, and a tenth of the time to read."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")


def _finite_or_none(value: float) -> float | None:
    """None, which is null in JSON, for numbers that are not finite."""
    return float(value) if np.isfinite(value) else None
