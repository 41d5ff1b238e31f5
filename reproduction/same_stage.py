"""One assignment stage on the graphs of all methods, and one consensus on the graphs of all methods.

The first part asks which *graph* is best: each is clustered by the same assignment stage, ours (2K eigenvectors, the
power 1/4, Ward's method along the graph). The second part asks whether our consensus would do as well with the graphs
of others as members: seven kNN graphs, seven cons-kNN graphs, or the three baselines together.

`run` measures the cells that are missing. The page has ACC/NMI per set, their means over the sets, and for every row
the largest lead over our default on any set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from graspel import GraspelClustering
from graspel.cluster import cluster_graph
from graspel.cluster.consensus import find_consensus
from graspel.graph import Graph
from graspel.runtime.types import Ints
from reproduction.baselines import KNN, ConsensusKNN
from reproduction.clusterings import FoundClusters, Problem, cluster_built, construct, join_components, measure_clusters
from reproduction.data import TITLES, load_data
from reproduction.pages import join_page, measure_cells
from reproduction.request import Cell, Request, choose_names
from reproduction.results import Results
from reproduction.table1 import QUICK_DATASETS, TABLE_DATASETS
from reproduction.tables import markdown_table

STAGE_SEEDS = 3  # of every cell; results hardly depend on the seed
LARGE, LARGE_SEEDS = ("mnist",), 1
NEIGHBOR_NUMBERS = (2, 3, 5, 7, 10, 12, 15)  # of the seven graphs of a baseline: the span of our own members
OURS = "graspel"


class StageRow(NamedTuple):
    """A row: its name in the table, the call that clusters a problem, and whether a quick run leaves it out."""

    label: str
    cluster: Callable[[Problem], FoundClusters]
    is_slow: bool = False


def one_graph(name: str) -> Callable[[Problem], FoundClusters]:
    """Cluster the graph of a method by our assignment stage."""
    return lambda problem: cluster_built(construct(name, problem), "ward", problem)


def default_clustering(problem: Problem, **parameters: Any) -> FoundClusters:
    """GraspelClustering with these parameters; the density is that of the learned graph."""
    model = GraspelClustering(problem.n_clusters, random_state=problem.seed, **parameters).fit(problem.X)
    return FoundClusters(model.labels_, density=model.learner_.graph_.density)


def consensus_of(build: Callable[[Problem], list[Graph]]) -> Callable[[Problem], FoundClusters]:
    """Cluster by our consensus, with other graphs as members."""

    def cluster(problem: Problem) -> FoundClusters:
        graphs = [join_components(graph, problem.X, problem.seed) for graph in build(problem)]
        return FoundClusters(vote(graphs, problem), density=float(np.mean([graph.density for graph in graphs])))

    return cluster


def vote(graphs: Sequence[Graph], problem: Problem) -> Ints:
    """The consensus of the clusters of these graphs, all of them trusted alike."""
    return find_consensus(cluster_each(graphs, problem)).labels


def cluster_each(graphs: Sequence[Graph], problem: Problem) -> list[Ints]:
    """The clusters of every graph, by our assignment stage."""
    return [cluster_graph(graph, problem.n_clusters, random_state=problem.seed).labels for graph in graphs]


def seven_of(baseline: type[KNN] | type[ConsensusKNN]) -> Callable[[Problem], list[Graph]]:
    """The graphs of a baseline with seven numbers of neighbors."""
    return lambda problem: [baseline(k).learn(problem.X, problem.seed) for k in NEIGHBOR_NUMBERS]


def three_baselines(problem: Problem) -> list[Graph]:
    """The graphs of the three baselines."""
    return [construct(name, problem).graph for name in ("knn", "cons-knn", "lsgl")]


GRAPH_ROWS: dict[str, StageRow] = {
    "knn": StageRow("kNN", one_graph("knn")),
    "cons-knn": StageRow("cons-kNN", one_graph("cons-knn")),
    "lsgl": StageRow("LSGL", one_graph("lsgl"), is_slow=True),
    "graspel-2nn": StageRow("graspel, 2NN", one_graph("2nn")),
}
CONSENSUS_ROWS: dict[str, StageRow] = {
    "knn-seven": StageRow("kNN, seven numbers", consensus_of(seven_of(KNN)), is_slow=True),
    "cons-knn-seven": StageRow("cons-kNN, seven numbers", consensus_of(seven_of(ConsensusKNN)), is_slow=True),
    "baselines": StageRow("kNN, cons-kNN and LSGL", consensus_of(three_baselines), is_slow=True),
    "graspel-unn": StageRow("graspel, uNN start", partial(default_clustering, initial="unn")),
    OURS: StageRow("graspel (default)", default_clustering),
}
ROWS = GRAPH_ROWS | CONSENSUS_ROWS


def run(request: Request, results: Results) -> str:
    """Measure what is missing, and return the page as Markdown."""
    datasets = choose_names("only", request.only, TABLE_DATASETS)
    if request.quick and request.only is None:
        datasets = list(QUICK_DATASETS)
    rows = choose_names("methods", request.methods, ROWS)
    if request.quick and request.methods is None:
        rows = [name for name in rows if not ROWS[name].is_slow]
    cells = [Cell(dataset, row, seed) for dataset in datasets for row in rows for seed in _seeds(request, dataset)]
    measured = measure_cells(results, "graphs", {cell.key: partial(measure_cell, cell) for cell in cells})
    table = {row: {dataset: _mean(measured, dataset, row, request) for dataset in datasets} for row in rows}
    return join_page(results, "# One stage on all graphs", write_table(table, datasets), NOTES)


def measure_cell(cell: Cell) -> dict[str, Any]:
    """The scores of a row on a data set."""
    data = load_data(cell.dataset)
    problem = Problem(cell.dataset, data.X, data.y, cell.seed)
    return measure_clusters(lambda: ROWS[cell.method].cluster(problem), problem.y)


def _seeds(request: Request, dataset: str) -> range:
    return range(LARGE_SEEDS if dataset in LARGE else (request.seeds or STAGE_SEEDS))


def _mean(measured: Mapping[str, Any], dataset: str, row: str, request: Request) -> dict[str, float]:
    values = [measured[Cell(dataset, row, seed).key] for seed in _seeds(request, dataset)]
    return {name: float(np.mean([value[name] for value in values])) for name in ("acc", "nmi", "density")}


def write_table(table: Mapping[str, Mapping[str, Mapping[str, float]]], datasets: Sequence[str]) -> str:
    """ACC/NMI of every row, the means over the sets, and the largest lead of a row over our default."""
    ours = table.get(OURS)
    lines = []
    for row, cells in table.items():
        means = [float(np.mean([cells[name][score] for name in datasets])) for score in ("acc", "nmi")]
        densities = ", ".join(f"{cells[name]['density']:.2f}" for name in datasets)
        stage = "one graph" if row in GRAPH_ROWS else "consensus"
        scores = [_format(cells[name]["acc"], cells[name]["nmi"]) for name in datasets]
        lines.append([ROWS[row].label, stage, *scores, _format(*means), _lead(cells, ours, datasets), densities])
    return markdown_table(
        [
            "graph",
            "clustered by",
            *(TITLES[name] for name in datasets),
            "mean",
            "largest lead over ours",
            "edges/point",
        ],
        lines,
    )


def _lead(cells: Mapping[str, Any], ours: Mapping[str, Any] | None, datasets: Sequence[str]) -> str:
    """By how much a row is ahead of our default where it is most ahead, in ACC and in NMI."""
    if ours is None or cells is ours:
        return ""
    leads = []
    for score in ("acc", "nmi"):
        lead, name = max((cells[name][score] - ours[name][score], TITLES[name]) for name in datasets)
        leads.append(f"{lead:+.3f} {name}")
    return " / ".join(leads)


def _format(acc: float, nmi: float) -> str:
    return f"{acc:.3f}/{nmi:.3f}"


NOTES = """\
ACC/NMI, means over the seeds (one on MNIST). "One graph": the graph, its components joined, clustered by our assignment
stage. "Consensus": each member clustered by that stage, then their consensus. kNN, cons-kNN and
LSGL have k = 10; "seven numbers" are the graphs with 2, 3, 5, 7, 10, 12 and 15 neighbors, and edges per point are the
mean over the members there. For graspel they are those of the learned graph; with the uNN start, every graph that is
clustered has at most 1.15. Above 20,000 points our default clusters
groups of near points; all other rows cluster the points.\
"""
