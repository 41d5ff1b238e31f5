"""The contents: all that the report shows, as plain values, before it becomes HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graspel.findings import Table, judge
from graspel.graph import Graph, Origin
from graspel.io.columns import Column
from graspel.learning.certificate import Certificate
from graspel.linalg import smallest_eigenpairs
from graspel.plot.canvas import clip_name
from graspel.plot.layout import best_view, place_nodes
from graspel.report.anomalies import Anomalies, find_anomalies
from graspel.report.cells import choose_columns, pack_column
from graspel.report.classes import Comparison, compare_with_classes
from graspel.report.groups import Group, describe_groups
from graspel.report.inputs import Coloring, Inputs, Source
from graspel.report.making import (
    describe_convergence,
    describe_gap,
    describe_spectrum,
    list_pairs,
    list_rounds,
    list_settings,
    list_states,
    write_code,
)
from graspel.report.map import Map, draw_map
from graspel.report.packing import Selection, pack, select_drawn
from graspel.report.pictures import make_sheets
from graspel.runtime.progress import announce
from graspel.runtime.types import Floats, Ints

NAMED = 3  # outliers that the summary names


@dataclass(frozen=True)
class Contents:
    """What the page shows.

    Attributes
    ----------
    title : str
    summary : list of str
        What is in the data, in sentences.
    claims : list of (str, str)
        Words of these sentences that have points behind them, each with the section that lists these points.
    verdicts : Table
    certificate : Certificate
    settings : list of (str, str)
        Names and values of all that the graph depends on.
    words : dict of str
        The sentences about the map, what is drawn of the graph, the eigengap and the convergence, and Python code that
        learns the graph again.
    first, rest, pictures : dict
        What the scripts draw, in types that JSON knows: first the map, then everything else, then thumbnails.
    """

    title: str
    summary: list[str]
    claims: list[tuple[str, str]]
    verdicts: Table
    certificate: Certificate
    settings: list[tuple[str, str]]
    words: dict[str, str]
    first: dict[str, Any]
    rest: dict[str, Any]
    pictures: dict[str, Any] | None


@dataclass(frozen=True)
class _Sections:
    """What was found, section by section, and what is drawn of it."""

    map: Map
    space: Floats
    groups: list[Group]
    layers: list[tuple[Coloring, list[Group]]]
    comparison: Comparison | None
    anomalies: Anomalies
    listed: Ints  # all points that a list of the page names
    selection: Selection
    columns: list[Column]


def gather_contents(inputs: Inputs, title: str | None = None) -> Contents:
    """Gather what the report shows."""
    found = _find_sections(inputs)
    agreement = inputs.agreement
    verdicts = judge(
        inputs.learner.certificate_,
        None if inputs.clusters is None else inputs.count,
        None if agreement is None else float(agreement.mean()),
    )
    announce("report", 0.8, "pictures")
    return Contents(
        title=_make_title(title, inputs.source),
        summary=_summarize(inputs, found, verdicts),
        claims=[(claim.words, claim.section) for claim in _list_claims(found)],
        verdicts=verdicts,
        certificate=inputs.learner.certificate_,
        settings=list_settings(inputs.model, inputs.source),
        words={
            "map": found.map.sentence,
            "drawn": _describe_selection(found.selection, inputs.graph),
            "eigengap": describe_gap(inputs),
            "convergence": describe_convergence(inputs.learner.history_),
            **_describe_recipe(inputs),
        },
        first=_pack_first(inputs, found),
        rest=_pack_rest(inputs, found),
        pictures=_pack_pictures(inputs, found),
    )


def _describe_recipe(inputs: Inputs) -> dict[str, str]:
    """The command line, if there was one, and the Python code that make the same graph again."""
    source = inputs.source
    if not isinstance(source, Source):
        return {"command": "", "code": write_code(inputs.model, inputs.clusterer)}
    command = f"{source.command}\n"
    return {"command": command, "code": write_code(inputs.model, inputs.clusterer, source.reading)}


def _find_sections(inputs: Inputs) -> _Sections:
    graph = inputs.graph
    announce("report", 0.0, "near points")
    _ = inputs.near
    announce("report", 0.2, "eigenvectors")
    n_jobs = inputs.learner.n_jobs
    pairs = smallest_eigenpairs(
        graph.laplacian, min(4, graph.n_nodes), tol=1e-3, norm="energy", random_state=0, n_jobs=n_jobs
    )
    space = place_nodes(pairs.vectors)
    announce("report", 0.3, "map")
    drawn_map = draw_map(inputs, space)
    announce("report", 0.6, "groups")
    groups = describe_groups(inputs)
    layers = [(layer.clusters, describe_groups(layer)) for layer in inputs.layers if layer.clusters is not None]
    announce("report", 0.7, "classes")
    comparison = compare_with_classes(inputs, groups)
    anomalies = find_anomalies(inputs)
    listed = _listed_points(groups, comparison, anomalies)
    selection = select_drawn(graph, inputs.groups, listed)
    columns = choose_columns(inputs, len(selection.nodes))
    return _Sections(drawn_map, space, groups, layers, comparison, anomalies, listed, selection, columns)


def _listed_points(groups: list[Group], comparison: Comparison | None, anomalies: Anomalies) -> Ints:
    """All points that a list of the page names."""
    lists = [anomalies.points, *(points for group in groups for points in (group.central, group.outlying))]
    if comparison is not None:
        lists.append(comparison.doubtful["point"])
    return np.unique(np.concatenate(lists)).astype(np.int64)


def _pack_first(inputs: Inputs, found: _Sections) -> dict[str, Any]:
    """What the map needs: it is read before the rest of the page."""
    colorings = [one for one in (inputs.clusters, inputs.classes) if one is not None]
    return {
        "map": pack(found.map.places[found.selection.nodes].T, "<f4"),
        "ids": pack(found.selection.nodes, "<i4"),
        "colorings": [_pack_coloring(one, found, found.groups) for one in colorings],
    }


def _pack_coloring(coloring: Coloring, found: _Sections, groups: list[Group]) -> dict[str, Any]:
    names = coloring.names
    if coloring.kind == "cluster":
        names = [*(group.name for group in groups), *names[len(groups) :]]
    classes = pack(coloring.classes[found.selection.nodes], "u1")
    return {"kind": coloring.kind, "names": names, "sizes": coloring.sizes, "classes": classes}


def _pack_rest(inputs: Inputs, found: _Sections) -> dict[str, Any]:
    graph, history, selection = inputs.graph, inputs.learner.history_, found.selection
    chosen = selection.nodes.tolist()
    place = {column.name: j for j, column in enumerate(found.columns)}
    return {
        "space": pack(found.space[selection.nodes].T, "<f4"),
        "eye": best_view(found.space, inputs.groups).tolist(),
        "edges": _pack_edges(graph, selection),
        "origins": {int(origin): origin.meaning for origin in Origin},
        "names": None if inputs.names is None else [inputs.names[i] for i in chosen],
        "texts": None if inputs.texts is None else [inputs.texts[i] for i in chosen],
        "outlierScores": pack(inputs.outlier_scores[selection.nodes], "<f4"),
        "columns": [pack_column(column, selection.nodes) for column in found.columns],
        "agreement": _pack_agreement(inputs, selection),
        "claims": [pack(selection.places(np.sort(claim.points)), "<i4") for claim in _list_claims(found)],
        "groups": [group.pack(selection, place) for group in found.groups],
        "layers": [
            {
                "coloring": _pack_coloring(clusters, found, groups),
                "groups": [group.pack(selection, place) for group in groups],
            }
            for clusters, groups in found.layers
        ],
        "classes": None if found.comparison is None else found.comparison.pack(selection),
        "anomalies": found.anomalies.pack(selection),
        "states": list_states(graph, history),
        "rounds": list_rounds(history),
        "spectrum": describe_spectrum(inputs),
        "pairs": list_pairs(inputs),
    }


def _pack_agreement(inputs: Inputs, selection: Selection) -> dict[str, Any] | None:
    """For every point the share of the graphs that agree on its group, and how many graphs there are."""
    if inputs.agreement is None:
        return None
    shares = np.round(255 * inputs.agreement[selection.nodes])
    return {"graphs": inputs.n_clustered_graphs, "shares": pack(shares, "u1")}


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


def _pack_pictures(inputs: Inputs, found: _Sections) -> dict[str, Any] | None:
    if inputs.pictures is None:
        return None
    nodes = found.selection.nodes
    sheets = make_sheets(inputs.pictures, nodes, np.isin(nodes, found.listed))
    return {**sheets, "chosen": None if sheets["chosen"] is None else pack(sheets["chosen"], "<i4")}


def _make_title(title: str | None, source: str | Source | None) -> str:
    if title:
        return clip_name(title, 200)
    name = source.name if isinstance(source, Source) else source
    return f"What is in {clip_name(name, 100)}" if name else "What is in the data"


def _describe_selection(selection: Selection, graph: Graph) -> str:
    if len(selection.nodes) == graph.n_nodes and len(selection.edges) == graph.n_edges:
        return f"All {graph.n_nodes:,} points and {graph.n_edges:,} edges are drawn."
    return (
        f"Thinned for drawing: {len(selection.nodes):,} of {graph.n_nodes:,} points and {len(selection.edges):,} of "
        f"{graph.n_edges:,} edges are drawn, preferably those that the rounds added; paths follow the edges that are "
        "drawn. All numbers describe the whole graph."
    )


# --- the summary at the top of the page


class _Claim(NamedTuple):
    """Words of the summary, the section about it, and the points that they are about."""

    words: str
    section: str
    points: Ints


def _list_claims(found: _Sections) -> list[_Claim]:
    """The claims of the summary that have points behind them."""
    claims = [
        _Claim(_count_striking(found.anomalies), "anomalies-section", found.anomalies.striking),
        _Claim(_count_copies(found.anomalies), "anomalies-section", found.anomalies.equal),
        _Claim(_count_nearly(found.anomalies), "anomalies-section", found.anomalies.nearly["point"]),
    ]
    if found.comparison is not None:
        claims.append(_Claim(_count_doubtful(found.comparison), "classes-section", found.comparison.confident))
    return [claim for claim in claims if len(claim.points)]


def _summarize(inputs: Inputs, found: _Sections, verdicts: Table) -> list[str]:
    """The answer to "what is in my data?" in a few sentences."""
    return [
        _summarize_groups(inputs, found.groups),
        *_summarize_classes(found.comparison),
        _summarize_anomalies(inputs, found.anomalies),
        _summarize_verdicts(verdicts),
    ]


def _summarize_groups(inputs: Inputs, groups: list[Group]) -> str:
    points = f"{inputs.n_points:,} points"
    if inputs.values is not None:
        features = len(inputs.values.cells) or inputs.values.values.shape[1]
        word = "column" if inputs.is_read and inputs.values.cells else "feature"
        points += f" with {features:,} {word}{'' if features == 1 else 's'}"
    if len(groups) < 2:
        return f"{points}. They form one group."
    assert inputs.clusters is not None
    n_groups = len(groups) if not inputs.clusters.has_others else f"more than {len(groups)}"
    sizes = sorted((group.size for group in groups), reverse=True)
    size = f"{sizes[0]:,} points each" if sizes[0] == sizes[-1] else f"{sizes[-1]:,} to {sizes[0]:,} points"
    return f"{points} fall into {n_groups} groups of {size}."


def _summarize_classes(comparison: Comparison | None) -> list[str]:
    if comparison is None:
        return []
    number = len(comparison.confident)
    looks = f"{_count_doubtful(comparison)} clearly contradicted by the points near and should be checked."
    return [*comparison.sentences[:1], looks if number else "No label is clearly contradicted by the points near it."]


def _count_doubtful(comparison: Comparison) -> str:
    number = len(comparison.confident)
    return "1 label is" if number == 1 else f"{number:,} labels are"


def _summarize_anomalies(inputs: Inputs, found: Anomalies) -> str:
    lies = _count_striking(found) if found.n_striking else "No point lies"
    outliers = f"{lies} far from all others{_name_first(inputs, found)}"
    copies = f"{_count_copies(found)} of another" if found.n_copies else "no two points are equal"
    nearly = f", {_count_nearly(found)} of one" if len(found.nearly) else ""
    return f"{outliers}; {copies}{nearly}."


def _name_first(inputs: Inputs, found: Anomalies) -> str:
    """The most striking outliers and the columns that show it."""
    reasons = [(p, found.why[p]) for p in found.striking.tolist() if found.why.get(p)][:NAMED]
    if not reasons:
        return ""
    said = [f"{inputs.names[p] if inputs.names else f'point {p}'}: {why[0][0]} is {why[0][1]}" for p, why in reasons]
    return f" ({', '.join(said)}{', ...' if found.n_striking > len(said) else ''})"


def _count_striking(found: Anomalies) -> str:
    return "1 point lies" if found.n_striking == 1 else f"{found.n_striking:,} points lie"


def _count_copies(found: Anomalies) -> str:
    return "1 point is a copy" if found.n_copies == 1 else f"{found.n_copies:,} points are copies"


def _count_nearly(found: Anomalies) -> str:
    return "1 is nearly a copy" if len(found.nearly) == 1 else f"{len(found.nearly):,} are nearly copies"


def _summarize_verdicts(verdicts: Table) -> str:
    weak = [row["question"] for row in verdicts.rows() if row["rating"] != "good"]
    n_good = len(verdicts) - len(weak)
    if not weak:
        return f"All {n_good} checks of the result are good."
    return f"{n_good} of {len(verdicts)} checks of the result are good; not so good: {' '.join(weak)}"
