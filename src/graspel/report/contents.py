"""The contents: all that the report shows, as plain values, before it becomes HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel.graph import Graph, Origin
from graspel.learning.certificate import Certificate
from graspel.linalg import smallest_eigenpairs
from graspel.plot.layout import best_view, place_nodes
from graspel.plot.palette import shorten
from graspel.report.classes import Comparison, compare_with_classes
from graspel.report.coloring import Coloring
from graspel.report.groups import Group, describe_groups
from graspel.report.map import Map, draw_map
from graspel.report.material import Material
from graspel.report.odd import OddOnes, find_odd_ones
from graspel.report.packing import finite_or_none, pack
from graspel.report.pictures import make_sheets
from graspel.report.repeat import list_settings, write_code
from graspel.report.rounds import describe_convergence, describe_spectrum, list_pairs, list_rounds, list_states
from graspel.report.summary import summarize
from graspel.report.thinning import Selection, select_drawn
from graspel.report.verdicts import Verdict, judge
from graspel.runtime.progress import announce
from graspel.runtime.types import Ints

__all__ = ["Contents", "gather_contents"]


@dataclass(frozen=True)
class Contents:
    """What the page shows.

    Attributes
    ----------
    title : str
    summary : list of str
        What is in the data, in sentences.
    verdicts : list of Verdict
    certificate : Certificate
    settings : list of (str, str)
        Names and values of all that the graph depends on.
    code : str
        Python code that learns the graph again.
    map : str
        How the points of the map were placed.
    drawn : str
        A sentence about how much of the graph is drawn.
    eigengap : str
        A sentence about the eigengap.
    convergence : str
        A sentence about the charts of the rounds.
    first, rest, pictures : dict
        What the scripts draw, in types that JSON knows: first the map, then everything else, then thumbnails.
    """

    title: str
    summary: list[str]
    verdicts: list[Verdict]
    certificate: Certificate
    settings: list[tuple[str, str]]
    code: str
    map: str
    drawn: str
    eigengap: str
    convergence: str
    first: dict[str, Any]
    rest: dict[str, Any]
    pictures: dict[str, Any] | None


def gather_contents(material: Material, title: str | None = None) -> Contents:
    """Gather what the report shows."""
    graph, learner = material.graph, material.learner
    announce("report", 0.0, "near points")
    near = material.near
    announce("report", 0.2, "eigenvectors")
    pairs = smallest_eigenpairs(
        graph.laplacian, min(4, graph.n_nodes), tol=1e-3, norm="energy", random_state=0, n_jobs=learner.n_jobs
    )
    space = place_nodes(pairs.vectors)
    announce("report", 0.3, "map")
    drawn_map = draw_map(material, space)
    announce("report", 0.6, "groups")
    groups = describe_groups(material)
    announce("report", 0.7, "classes")
    comparison = compare_with_classes(material, groups)
    odd = find_odd_ones(material)
    agreement = material.agreement
    verdicts = judge(
        learner.certificate_,
        None if material.clusters is None else material.count,
        None if agreement is None else float(agreement.mean()),
    )
    main = np.zeros(graph.n_nodes, dtype=np.int64) if material.clusters is None else material.clusters.classes
    listed = _listed_points(groups, comparison, odd, graph)
    selection = select_drawn(graph, main, listed)
    announce("report", 0.8, "pictures")
    pictures = None
    if material.pictures is not None:
        pictures = make_sheets(material.pictures, selection.nodes, np.isin(selection.nodes, listed))
        if pictures["chosen"] is not None:
            pictures["chosen"] = pack(pictures["chosen"], "<i4")
    del near
    return Contents(
        title=_make_title(title, material.source),
        summary=summarize(material, groups, comparison, odd, verdicts),
        verdicts=verdicts,
        certificate=learner.certificate_,
        settings=list_settings(material.model, material.source),
        code=write_code(material.model, material.clusterer),
        map=drawn_map.sentence,
        drawn=_describe_selection(selection, graph),
        eigengap=_describe_gap(material),
        convergence=describe_convergence(learner.history_),
        first=_pack_first(material, drawn_map, groups, selection),
        rest=_pack_rest(material, space, groups, comparison, odd, selection),
        pictures=pictures,
    )


def _pack_first(material: Material, drawn_map: Map, groups: list[Group], selection: Selection) -> dict[str, Any]:
    """What the map needs: it is read before the rest of the page."""
    colorings = [one for one in (material.clusters, material.classes) if one is not None]
    places = drawn_map.places[selection.nodes]
    return {
        "map": pack(places.T, "<f4"),
        "ids": pack(selection.nodes, "<i4"),
        "colorings": [_pack_coloring(one, selection, groups) for one in colorings],
    }


def _pack_coloring(coloring: Coloring, selection: Selection, groups: list[Group]) -> dict[str, Any]:
    names = coloring.names
    if coloring.kind == "cluster":
        names = [*(group.name for group in groups), *names[len(groups) :]]
    return {
        "kind": coloring.kind,
        "names": names,
        "sizes": coloring.sizes,
        "classes": pack(coloring.classes[selection.nodes], "u1"),
    }


def _pack_rest(
    material: Material,
    space: NDArray[np.float64],
    groups: list[Group],
    comparison: Comparison | None,
    odd: OddOnes,
    selection: Selection,
) -> dict[str, Any]:
    graph, history = material.graph, material.learner.history_
    chosen = selection.nodes.tolist()
    classes = np.zeros(graph.n_nodes, dtype=np.int64) if material.clusters is None else material.clusters.classes
    return {
        "space": pack(space[selection.nodes].T, "<f4"),
        "eye": best_view(space, classes).tolist(),
        "edges": _pack_edges(graph, selection),
        "origins": {int(origin): origin.meaning for origin in Origin},
        "names": None if material.names is None else [material.names[i] for i in chosen],
        "texts": None if material.texts is None else [material.texts[i] for i in chosen],
        "oddness": pack(material.outlier_scores[selection.nodes], "<f4"),
        "groups": [_pack_group(group, selection) for group in groups],
        "classes": None if comparison is None else _pack_comparison(comparison, selection),
        "odd": _pack_odd(odd, graph, selection),
        "states": list_states(graph, history),
        "rounds": list_rounds(history),
        "spectrum": describe_spectrum(material.gap),
        "pairs": list_pairs(graph, material.learner, material.X),
    }


def _pack_edges(graph: Graph, selection: Selection) -> dict[str, Any]:
    """The edges that are drawn; their ends are numbered among the points that are drawn."""
    chosen = selection.edges
    return {
        "heads": pack(np.searchsorted(selection.nodes, graph.heads[chosen]), "<i4"),
        "tails": pack(np.searchsorted(selection.nodes, graph.tails[chosen]), "<i4"),
        "weights": pack(np.clip(graph.weights[chosen], 1e-37, 3e38), "<f4"),
        "rounds": pack(np.minimum(graph.round[chosen], 65_535), "<u2"),
        "origins": pack(graph.origin[chosen], "u1"),
        "eta": pack(np.clip(graph.eta[chosen], -3e38, 3e38), "<f4"),
    }


def _pack_group(group: Group, selection: Selection) -> dict[str, Any]:
    return {
        "sure": group.sure,
        "features": [
            {"name": one.name, "effect": finite_or_none(one.effect), "words": one.words()} for one in group.features
        ],
        "nearest": group.nearest,
        "central": selection.places(group.central),
        "outlying": selection.places(group.outlying),
        "picture": group.picture,
        "classes": group.classes,
    }


def _pack_comparison(comparison: Comparison, selection: Selection) -> dict[str, Any]:
    suspects = np.array([point for point in comparison.suspects if len(selection.places(np.array([point])))], dtype=int)
    return {
        "table": None if comparison.table is None else comparison.table.tolist(),
        "rows": comparison.rows.tolist(),
        "columns": comparison.columns.tolist(),
        "sentences": comparison.sentences,
        "mixed": comparison.mixed,
        "n_suspicious": comparison.n_suspicious,
        "suspects": [
            {"point": place, "instead": int(comparison.suspicion.instead[point]), "score": float(score)}
            for place, point, score in zip(
                selection.places(suspects), suspects.tolist(), comparison.suspicion.score[suspects], strict=True
            )
        ],
    }


def _pack_odd(odd: OddOnes, graph: Graph, selection: Selection) -> dict[str, Any]:
    ends = [selection.places(np.array([graph.heads[e], graph.tails[e]])) for e in odd.edges]
    return {
        "outliers": list(zip(selection.places(odd.outliers), odd.scores.tolist(), strict=False)),
        "copies": [{"points": selection.places(one[:6]), "number": len(one)} for one in odd.copies],
        "n_copies": odd.n_copies,
        "edges": [[*pair, int(part)] for pair, part in zip(ends, odd.edge_parts, strict=True) if len(pair) == 2],
        "nodes": list(zip(selection.places(odd.nodes), odd.node_parts.tolist(), strict=False)),
    }


def _listed_points(groups: list[Group], comparison: Comparison | None, odd: OddOnes, graph: Graph) -> Ints:
    """All points that a list of the page names."""
    lists = [odd.outliers, odd.nodes, graph.heads[odd.edges], graph.tails[odd.edges], *(c[:6] for c in odd.copies)]
    lists += [points for group in groups for points in (group.central, group.outlying)]
    if comparison is not None:
        lists.append(comparison.suspects)
    return np.unique(np.concatenate(lists)).astype(np.int64)


def _make_title(title: str | None, source: str | None) -> str:
    if title:
        return shorten(title, 200)
    return f"What is in {shorten(source, 100)}" if source else "What is in the data"


def _describe_gap(material: Material) -> str:
    sentences = [f"Here: {material.gap.sentence()}."]
    n_critical = int((material.graph.origin == Origin.CRITICAL).sum())
    if n_critical:
        sentences.append(
            f"Clusters are found on the graph without its {n_critical:,} critical edges, which connect clusters; the "
            "eigenvalues are those of that graph."
        )
    if material.count is not material.gap:
        sentences.append(f"Several graphs were clustered. Together they give {material.count.sentence()}.")
    return " ".join(sentences)


def _describe_selection(selection: Selection, graph: Graph) -> str:
    if len(selection.nodes) == graph.n_nodes and len(selection.edges) == graph.n_edges:
        return f"All {graph.n_nodes:,} points and {graph.n_edges:,} edges are drawn."
    return (
        f"Thinned for drawing: {len(selection.nodes):,} of {graph.n_nodes:,} points and {len(selection.edges):,} of "
        f"{graph.n_edges:,} edges are drawn, preferably those that the rounds added; paths follow the edges that are "
        "drawn. All numbers describe the whole graph."
    )
