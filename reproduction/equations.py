"""The paper's equations on small random graphs, in dense numpy beside our code: the largest relative error of each.

References
----------
Y. Wang, Z. Zhao and Z. Feng. GRASPEL: Graph Spectral Learning at Scale. 2020. Sections 2 and 3, Appendix A and F.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from graspel.data.prepare import prepare_rows
from graspel.data.protocol import Data
from graspel.graph import Graph
from graspel.learning.embed import spectral_embedding
from graspel.learning.objective import objective
from graspel.linalg import effective_resistance
from graspel.metrics import clustering_accuracy
from graspel.runtime.types import Floats, Ints

N_NODES, N_COLUMNS, SIGMA, BETA = 40, 12, 1e3, 0.01
STEP = 1e-4  # of a weight, relative, for derivatives by differences
N_CLASSES = 4


def measure_equations(seed: int) -> dict[str, float]:
    """The largest relative error of every equation, on a random connected graph and random points."""
    rng = np.random.default_rng(seed)
    points = prepare_rows(rng.standard_normal((N_NODES, N_COLUMNS)))
    graph = _random_graph(rng)
    z = points.squared_distances(graph.heads, graph.tails)
    graph = graph.with_weights(1 / z)
    X = _signals(points)
    return {
        **_quadratic_forms(graph, X, z),
        **_objective(graph, z),
        **_theorem(graph),
        **_distortion(graph, z, rng),
        **_scores(rng),
    }


def _random_graph(rng: np.random.Generator) -> Graph:
    """A path and as many random edges beside it."""
    p, q = np.triu_indices(N_NODES, 2)
    chosen = rng.choice(len(p), N_NODES, replace=False)
    path = np.arange(N_NODES - 1)
    return Graph(N_NODES, np.concatenate([path, p[chosen]]), np.concatenate([path + 1, q[chosen]]), 1.0)


def _signals(points: Data) -> Floats:
    """Columns whose squared distances, summed over the columns, are z: by classical scaling."""
    heads, tails = np.triu_indices(N_NODES, 1)
    D = np.zeros((N_NODES, N_NODES))
    D[heads, tails] = points.squared_distances(heads, tails)
    D += D.T
    J = np.eye(N_NODES) - 1 / N_NODES
    values, vectors = np.linalg.eigh(-J @ D @ J / 2)
    return vectors[:, -N_COLUMNS:] * np.sqrt(np.maximum(values[-N_COLUMNS:], 0.0))


def _dense_laplacian(graph: Graph) -> Floats:
    L = np.zeros((graph.n_nodes, graph.n_nodes))
    for p, q, w in zip(graph.heads, graph.tails, graph.weights, strict=True):
        e = np.zeros(graph.n_nodes)
        e[p], e[q] = 1, -1
        L += w * np.outer(e, e)
    return L


def _error(found: Floats | float, expected: Floats | float) -> float:
    found, expected = np.asarray(found), np.asarray(expected)
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def _quadratic_forms(graph: Graph, X: Floats, z: Floats) -> dict[str, float]:
    L = _dense_laplacian(graph)
    x = X[:, 0]
    by_edges = np.sum(graph.weights * (x[graph.heads] - x[graph.tails]) ** 2)
    return {
        "laplacian": _error(graph.laplacian.toarray(), L),
        "smoothness": _error(x @ L @ x, by_edges),
        "trace": _error(np.trace(X.T @ L @ X), graph.weights @ z),
    }


def _dense_objective(graph: Graph, z: Floats) -> float:
    L = _dense_laplacian(graph)
    penalty = BETA * np.abs(L).sum()
    return float(np.linalg.slogdet(L + np.eye(graph.n_nodes) / SIGMA**2)[1] - graph.weights @ z - penalty)


def _objective(graph: Graph, z: Floats) -> dict[str, float]:
    """F and its derivative in each weight; the derivative of |L|_1 is 4, where the paper writes 1."""
    inverse = np.linalg.inv(_dense_laplacian(graph) + np.eye(graph.n_nodes) / SIGMA**2)
    p, q = graph.heads, graph.tails
    gradient = inverse[p, p] + inverse[q, q] - 2 * inverse[p, q] - z - 4 * BETA
    differences = np.empty(graph.n_edges)
    for edge in range(graph.n_edges):
        up, down = (_dense_objective(_changed(graph, edge, sign * STEP), z) for sign in (1, -1))
        differences[edge] = (up - down) / (2 * STEP * graph.weights[edge])
    ours = objective(graph, z, sigma=SIGMA, beta=BETA)[0]
    return {"objective": _error(ours, _dense_objective(graph, z)), "gradient": _error(differences, gradient)}


def _changed(graph: Graph, edge: int, share: float) -> Graph:
    return graph.with_weights(graph.weights * (1 + share * (np.arange(graph.n_edges) == edge)))


def _theorem(graph: Graph) -> dict[str, float]:
    """Theorem 1 on each edge: the change of the first five nonzero eigenvalues with its weight."""
    _, vectors = np.linalg.eigh(_dense_laplacian(graph))
    worst = 0.0
    for edge in range(graph.n_edges):
        up, down = (np.linalg.eigvalsh(_dense_laplacian(_changed(graph, edge, sign * STEP))) for sign in (1, -1))
        shift = (up - down)[1:6] / (2 * STEP * graph.weights[edge])
        expected = (vectors[graph.heads[edge], 1:6] - vectors[graph.tails[edge], 1:6]) ** 2
        worst = max(worst, float(np.max(np.abs(shift - expected))))
    return {"theorem": worst}


def _distortion(graph: Graph, z: Floats, rng: np.random.Generator) -> dict[str, float]:
    """U of five vectors and of all, eta, its gradient, and its limit, the leverage score."""
    values, vectors = np.linalg.eigh(_dense_laplacian(graph))
    dense = vectors[:, 1:] / np.sqrt(values[1:] + 1 / SIGMA**2)
    p, q = graph.heads, graph.tails
    few = spectral_embedding(graph, 5, SIGMA, rng).squared_distances(p, q)
    whole = spectral_embedding(graph, graph.n_nodes - 1, SIGMA, rng).squared_distances(p, q)
    eta = whole / z
    return {
        "embedding": _error(few, np.sum((dense[p, :5] - dense[q, :5]) ** 2, axis=1)),
        "eta": _error(eta, np.sum((dense[p] - dense[q]) ** 2, axis=1) / z),
        "eta gradient": _error((1 - 1 / eta) * whole, whole - z),
        "leverage": _error(eta, graph.weights * effective_resistance(graph, np.column_stack([p, q])).values),
    }


def _scores(rng: np.random.Generator) -> dict[str, float]:
    """ACC beside the best of all assignments, NMI beside its formula."""
    y, labels = rng.integers(N_CLASSES, size=(2, 60))
    best = max(np.mean(np.array(names)[labels] == y) for names in permutations(range(N_CLASSES)))
    return {
        "accuracy": abs(clustering_accuracy(y, labels) - float(best)),
        "nmi": abs(normalized_mutual_info_score(y, labels, average_method="geometric") - _nmi(y, labels)),
    }


def _nmi(y: Ints, labels: Ints) -> float:
    """Equation (nmi) as printed; the ratio inside its first logarithm is n n_ij / (n_i n_j)."""
    n, counts = len(y), np.zeros((N_CLASSES, N_CLASSES))
    np.add.at(counts, (y, labels), 1)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    found = counts > 0
    mutual = np.sum(counts[found] * np.log(n * counts[found] / np.outer(rows, columns)[found]))
    return float(mutual / np.sqrt((rows @ np.log(rows / n)) * (columns @ np.log(columns / n))))
