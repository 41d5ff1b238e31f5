"""The authors' published Julia code beside the paper's text, from the 2NN graph at tol = 10.

The text (Sections 3.3 and 4) takes 5 % of the points from each end of the Fiedler order, evaluates every pair between
them, adds the .001 N edges of largest eta in a round, with weights 1 / (M z), and stops when the *largest* eta is below
10. The published code measures distances over u_2 to u_5, takes 1 % of the points, draws 1,000 pairs at random for each
edge of a round, adds .0001 N edges with *eta itself as weight*, and stops when the mean eta of the *chosen* edges is
below 10. It does not join the components first. The paper's results do not come from it but from a MATLAB version, as
its authors write, which we could not read.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. The paragraph "SC with 2NN graphs".
The repository Feng-Research/GRASPEL, its Julia files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from sklearn.metrics import normalized_mutual_info_score

from graspel.data.prepare import prepare_rows
from graspel.graph import Graph
from graspel.graph.edges import edge_keys
from graspel.metrics import clustering_accuracy
from graspel.runtime.types import Floats, Ints
from reproduction.clusterings import GRAPHS
from reproduction.data import TITLES, center_rows, load_data
from reproduction.pages import join_page, measure_cells
from reproduction.paper import TWO_NEIGHBORS
from reproduction.request import Cell, Request, choose_names
from reproduction.results import Results
from reproduction.table1 import STAGE_DATASETS
from reproduction.tables import markdown_table, mean_and_spread

TOL, SIGMA, MAX_ROUNDS = 10.0, 1e3, 400
DRAWS = 1000  # pairs drawn for each edge of a round
CODE_SEEDS = 3


class Rules(NamedTuple):
    """What the text and the published code do differently, and how the graph is clustered."""

    label: str
    n_vectors: int = 4
    window: float = 0.01
    edge_ratio: float = 1e-4
    draws: int = DRAWS  # 0: every pair between the two ends
    weight_is_eta: bool = True
    stop_at_mean: bool = True
    joined: bool = False
    vectors: int = 1  # eigenvectors for each cluster
    unit_rows: bool = False


_TEXT = Rules("the paper's text", 1, 0.05, 1e-3, 0, weight_is_eta=False, stop_at_mean=False, joined=True)
_CODE = Rules("the published code")
VARIANTS: dict[str, Rules] = {
    "text": _TEXT,
    "text-not-joined": _TEXT._replace(label="the text, components not joined", joined=False),
    "text-sampled": _TEXT._replace(label="the text, pairs drawn at random", draws=DRAWS),
    "text-u2-u5": _TEXT._replace(label="the text, distances over u_2 to u_5", n_vectors=4),
    "text-unit": _TEXT._replace(label="the text, clustered by rows of unit length", unit_rows=True),
    "code": _CODE,
    "code-weights": _CODE._replace(label="the code, weights 1 / (M z)", weight_is_eta=False),
    "code-joined": _CODE._replace(label="the code, components joined", joined=True),
    "code-largest": _CODE._replace(label="the code, stop at the largest eta", stop_at_mean=False),
    "code-5k": _CODE._replace(label="the code, clustered by 5K eigenvectors", vectors=5),
}


def learn(X: Any, rules: Rules, seed: int) -> tuple[Graph, int]:
    """The graph that the rules give, and the number of rounds. Rows are centered, as in the paper."""
    rng = np.random.default_rng(seed)
    X = center_rows(X)
    points = prepare_rows(X)
    start = GRAPHS["2nn-joined" if rules.joined else "2nn-bare"](X, seed)
    M = X.shape[1]  # weights are 1 / (M z), the inverse of the distances that are not averaged
    z = points.squared_distances(start.heads, start.tails)
    graph = Graph(start.n_nodes, start.heads, start.tails, 1 / (M * z))
    n_edges = int(np.ceil(rules.edge_ratio * graph.n_nodes))
    for round in range(1, MAX_ROUNDS + 1):
        U = _embed(graph, rules.n_vectors, rng)
        heads, tails = _draw_pairs(U, graph, rules, n_edges, rng)
        z = points.squared_distances(heads, tails)
        eta = np.sum((U[heads] - U[tails]) ** 2, axis=1) / z
        chosen = _choose(heads, tails, eta, n_edges)
        if not len(chosen) or (np.mean(eta[chosen]) if rules.stop_at_mean else np.max(eta[chosen])) < TOL:
            return graph, round
        weights = eta[chosen] if rules.weight_is_eta else 1 / (M * z[chosen])
        graph = graph.with_edges(heads[chosen], tails[chosen], weights, round=round)
    return graph, MAX_ROUNDS


def _embed(graph: Graph, n_vectors: int, rng: np.random.Generator) -> Floats:
    """The rows of the paper's U: the first eigenvectors of L + I / sigma^2, by shift and invert."""
    scale = float(np.median(graph.weights))
    L = sp.csc_matrix(graph.laplacian / scale)
    shift = 1 / (SIGMA**2 * scale)
    values, vectors = eigsh(L, n_vectors + 1, sigma=-shift, v0=rng.standard_normal(graph.n_nodes))
    order = np.argsort(values)[1:]
    return vectors[:, order] / np.sqrt((np.maximum(values[order], 0) + shift) * scale)


def _draw_pairs(U: Floats, graph: Graph, rules: Rules, n_edges: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs between the two ends of the Fiedler order that are not yet edges."""
    n_ends = max(int(rules.window * len(U)), 1)
    order = np.argsort(U[:, 0], kind="stable")
    if rules.draws:
        low, high = (
            rng.choice(order[:n_ends], rules.draws * n_edges),
            rng.choice(order[-n_ends:], rules.draws * n_edges),
        )
    else:
        low, high = np.repeat(order[:n_ends], n_ends), np.tile(order[-n_ends:], n_ends)
    heads, tails = np.minimum(low, high), np.maximum(low, high)
    keys, first = np.unique(edge_keys(heads, tails, graph.n_nodes), return_index=True)
    first = first[~np.isin(keys, edge_keys(graph.heads, graph.tails, graph.n_nodes))]
    return heads[first], tails[first]


def _choose(heads: Ints, tails: Ints, eta: Floats, n_edges: int) -> Ints:
    """The pairs of largest eta, at least TOL, of which no two share a node."""
    taken, chosen = set(), []
    for pair in np.argsort(-eta, kind="stable"):
        ends = {heads[pair], tails[pair]}
        if len(chosen) == n_edges or eta[pair] < TOL:
            break
        if not ends & taken:
            taken |= ends
            chosen.append(pair)
    return np.array(chosen, dtype=np.int64)


def measure_cell(cell: Cell) -> dict[str, Any]:
    """Learn the graph of a variant and cluster it by Algorithm 2."""
    from sklearn.cluster import KMeans

    data, rules = load_data(cell.dataset), VARIANTS[cell.method]
    k = len(np.unique(data.y))
    graph, rounds = learn(data.X, rules, cell.seed)
    rows = _embed(graph, rules.vectors * k, np.random.default_rng(cell.seed))
    rows = rows / np.linalg.norm(rows, axis=0)  # the vectors as they are, not divided by the roots of the eigenvalues
    if rules.unit_rows:
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    labels: NDArray[Any] = KMeans(k, n_init=10, random_state=cell.seed).fit(rows).labels_
    nmi = normalized_mutual_info_score(data.y, labels, average_method="geometric")
    acc = clustering_accuracy(data.y, labels)
    return {"acc": acc, "nmi": nmi, "rounds": rounds, "density": graph.density, "components": graph.components[0]}


def run(request: Request, results: Results) -> str:
    """Measure what is missing, and return the page as Markdown."""
    datasets = choose_names("only", request.only, STAGE_DATASETS)
    if request.quick and request.only is None:
        datasets = datasets[:1]
    variants = choose_names("methods", request.methods, VARIANTS)
    seeds = range(request.seeds or (1 if request.quick else CODE_SEEDS))
    cells = [Cell(dataset, name, seed) for dataset in datasets for name in variants for seed in seeds]
    measured = measure_cells(results, "authors-code", {cell.key: partial(measure_cell, cell) for cell in cells})
    tables = [_write_table(measured, dataset, variants, seeds) for dataset in datasets]
    return join_page(results, "# The authors' code and the paper's text", *tables, NOTES)


def _write_table(measured: Mapping[str, Any], dataset: str, variants: Sequence[str], seeds: range) -> str:
    lines = []
    for name in variants:
        values = [measured[Cell(dataset, name, seed).key] for seed in seeds]
        scores = [
            mean_and_spread([100 * value["acc"] for value in values], 1),
            mean_and_spread([value["nmi"] for value in values], 3),
        ]
        means = [float(np.mean([value[what] for value in values])) for what in ("rounds", "density", "components")]
        lines.append([VARIANTS[name].label, *scores, f"{means[0]:.0f}", f"{means[1]:.3f}", f"{means[2]:.0f}"])
    printed = TWO_NEIGHBORS[dataset]["GRASPEL, 2NN"]
    if printed is not None:
        lines.append(["the paper", f"{printed.accuracy:.1f}", f"{printed.nmi:.3f}", "", "", ""])
    header = ["", "ACC %", "NMI", "rounds", "density", "components"]
    return f"## {TITLES[dataset]}\n\n{markdown_table(header, lines)}"


NOTES = f"""\
From the 2NN graph, rows centered, tol = 10; clusters by k-means with ten starts on the first K eigenvectors, except
where the row says otherwise. Each row changes one thing of the text or of the code. A run of {MAX_ROUNDS} rounds was
stopped there. *Components* are those of the learned graph: where there are several, the first eigenvectors are an
arbitrary basis of their indicators.\
"""
