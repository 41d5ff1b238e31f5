"""Targets: the public calls that are fuzzed. Each draws a case with hostile data and random settings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import graspel
from fuzzing.cases import Case, require
from fuzzing.limits import are_low, with_low_limits
from fuzzing.matrices import draw_adjacency, draw_points
from fuzzing.twins import check_graph, check_neighbors, eigenvalues
from graspel import linalg
from graspel.cluster import cluster_graph

Settings = dict[str, Any]
Draw = Callable[[np.random.Generator], Case]

RECALL_ERROR = 0.05  # error of a recall that was measured on a sample


def choose(rng: np.random.Generator, **choices: list[Any]) -> Settings:
    """Leave each setting at its default in half of the cases, else take one of the choices."""
    return {name: values[rng.integers(len(values))] for name, values in choices.items() if rng.random() < 0.5}


def _ordinary_points(X: Any) -> Any:
    return np.random.default_rng(0).standard_normal(X.shape)


def _ordinary_graph(A: Any) -> Any:
    B = sp.csr_array(A, copy=True)
    B.data[:] = 1.0
    return B


def write_call(name: str, methods: str = "") -> Callable[[str, Settings], str]:
    """How a call of an estimator is printed."""

    def code(data: str, settings: Settings) -> str:
        arguments = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        return f"model = graspel.{name}({arguments}).fit({data}){methods}"

    return code


# --- estimators -------------------------------------------------------------------------------------------------------


def draw_learner(rng: np.random.Generator) -> Case:
    """GRASPEL with all its options."""
    settings = choose(
        rng,
        n_neighbors=[1, 2, 5, 10],
        metric=["cosine"],
        initial=["unn", "mst"],
        candidates=["clusters", "multilevel"],
        stability=["eigenvalues"],
        edge_ratio=[0.1, 1.0],
        window=[0.5],
        tol=[10, 1e-3],
        beta=[1e-3, 1.0],
        sigma=[1.0, 1e6],
        max_iter=[0, 3],
        weights=["refined"],
    )
    return Case(
        "GRASPEL",
        draw_points(rng),
        {**settings, "random_state": 0},
        run_learner,
        write_call("GRASPEL"),
        _ordinary_points,
    )


def run_learner(X: Any, settings: Settings) -> int:
    """The graph is connected and finite, its neighbors are nearest, two threads give the same bits."""
    model = graspel.GRASPEL(**settings).fit(X)
    check_graph(model.graph_, X.shape[0])
    require(model.certificate_.connected, "the certificate says that the graph is not connected")
    require(np.isfinite(model.certificate_.lambda_2), "lambda_2 is not finite")
    if settings.get("initial", "knn") == "knn" and "weights" not in settings:
        k, metric = settings.get("n_neighbors", 2), settings.get("metric", "euclidean")
        check_neighbors(model.graph_, X, k, metric, find_allowance(model.certificate_.neighbor_recall))
    again = graspel.GRASPEL(**settings, n_jobs=1).fit(X)
    require(again.graph_ == model.graph_, "another graph with one thread")
    return 1 + model.n_iter_


def find_allowance(recall: float) -> float:
    """The share of edges that may join points which are no nearest neighbors, given the recall that was measured.

    A search of all pairs must be exact. The search by landmarks may miss what its certificate admits: each neighbor
    missed is an edge that joins others, and an edge may be in two lists.
    """
    return 2 * (1 - recall) + RECALL_ERROR if are_low() else 0.0


def draw_clusterer(rng: np.random.Generator) -> Case:
    """GraspelClustering and predict."""
    settings = choose(rng, n_clusters=[1, 2, 3, 5, 8], assign_labels=["paper"])
    return Case(
        "GraspelClustering",
        draw_points(rng),
        {**settings, "random_state": 0},
        run_clusterer,
        write_call("GraspelClustering", "; assert (model.predict(X) == model.labels_).all()"),
        _ordinary_points,
    )


def run_clusterer(X: Any, settings: Settings) -> None:
    """As many labels as points; training points get their own labels; memberships sum to one."""
    model = graspel.GraspelClustering(**settings).fit(X)
    check_graph(model.learner_.graph_, X.shape[0])
    require(len(model.labels_) == X.shape[0], "a point has no label")
    require(np.isfinite(model.memberships_).all(), "a membership is not finite")
    require(np.allclose(model.memberships_.sum(axis=1), 1), "memberships do not sum to one")
    wrong = int((model.predict(X) != model.labels_).sum())
    require(wrong == 0, f"predict gives another label to {wrong} of {X.shape[0]} training points")


def draw_embedding(rng: np.random.Generator) -> Case:
    """GraspelEmbedding and transform."""
    settings = {**choose(rng, n_components=[1, 3]), "random_state": 0}
    code = write_call("GraspelEmbedding", "; model.transform(X)")
    return Case("GraspelEmbedding", draw_points(rng), settings, run_embedding, code, _ordinary_points)


def run_embedding(X: Any, settings: Settings) -> None:
    """Coordinates are finite; training points get their own."""
    model = graspel.GraspelEmbedding(**settings).fit(X)
    require(np.isfinite(model.embedding_).all(), "a coordinate is not finite")
    require(np.allclose(model.transform(X), model.embedding_), "transform moves a training point")


def draw_tsne(rng: np.random.Generator) -> Case:
    """GraspelTSNE, few iterations."""
    settings = {
        **choose(rng, reduction=[1, 2], n_components=[3], perplexity=[2]),
        "max_iter": 10,
        "random_state": 0,
    }
    code = write_call("GraspelTSNE", "; model.transform(X)")
    return Case("GraspelTSNE", draw_points(rng), settings, run_tsne, code, _ordinary_points)


def run_tsne(X: Any, settings: Settings) -> None:
    """Coordinates are finite; training points get their own."""
    model = graspel.GraspelTSNE(**settings).fit(X)
    require(np.isfinite(model.embedding_).all(), "a coordinate is not finite")
    require(np.allclose(model.transform(X), model.embedding_), "transform moves a training point")


def draw_recovery(rng: np.random.Generator) -> Case:
    """GraspelRecovery."""
    settings = choose(rng, noise=[0, 0.5], criterion=["aic"], all_pairs=[True, False], n_neighbors=[1, 3])
    X = draw_points(rng)
    if X.shape[0] > 60:
        X = sp.csr_array(X)[:60].toarray() if sp.issparse(X) else X[:60]
    return Case(
        "GraspelRecovery",
        X,
        {**settings, "random_state": 0},
        run_recovery,
        write_call("GraspelRecovery"),
        _ordinary_points,
    )


def run_recovery(X: Any, settings: Settings) -> None:
    """The graph is connected and finite."""
    model = graspel.GraspelRecovery(**settings).fit(X)
    check_graph(model.graph_, X.shape[0])
    require(np.isfinite(model.noise_), "the noise is not finite")


# --- kernels ----------------------------------------------------------------------------------------------------------


def _write_kernel(call: str) -> Callable[[str, Settings], str]:
    def code(data: str, settings: Settings) -> str:
        arguments = "".join(f", {value!r}" if key == "k" else f", {key}={value!r}" for key, value in settings.items())
        return f"{call}({data}{arguments})"

    return code


def _draw_kernel(name: str, run: Callable[[Any, Settings], int | None], **choices: list[Any]) -> Draw:
    def draw(rng: np.random.Generator) -> Case:
        settings = choose(rng, **choices)
        return Case(name, draw_adjacency(rng), settings, run, _write_kernel(name), _ordinary_graph)

    return draw


def run_eigenpairs(A: Any, settings: Settings) -> None:
    """The eigenvalues are those of the dense solver, none skipped."""
    settings = dict(settings)
    k = min(settings.pop("k", 3), A.shape[0])
    L = sp.csr_array(sp.diags_array(A.sum(axis=1)) - A)
    found = linalg.smallest_eigenpairs(L, k, random_state=0, **settings)
    require(np.isfinite(found.values).all() and np.isfinite(found.vectors).all(), "an eigenpair is not finite")
    truth = eigenvalues(sp.csr_array(A))
    error = np.abs(found.values - truth[:k]).max()
    require(error <= 1e-6 * max(truth[-1], 1e-300), f"an eigenvalue is off by {error / truth[-1]:.1e} of the largest")


def run_resistance(A: Any, settings: Settings) -> None:
    """Resistances of the edges are positive; their leverages sum to the number of tree edges, unless a warning says no.

    Only solves of large graphs with weights over more decades than double precision has digits warn.
    """
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ConvergenceWarning)
        found = linalg.effective_resistance(sp.csr_array(A), random_state=0, **settings)
    require((found.values > 0).all() and np.isfinite(found.values).all(), "a resistance is not positive and finite")
    require(not warned or are_low(), f"a warning about a small graph: {warned[0].message if warned else None}")
    if found.method != "projection" and not warned:
        leverage = float(found.values @ sp.csr_array(A)[found.heads, found.tails])
        tree = A.shape[0] - graspel.Graph.from_adjacency(A).components[0]
        require(abs(leverage - tree) <= 1e-6 * max(tree, 1), f"leverages sum to {leverage}, not to {tree}")


def run_sparsify(A: Any, settings: Settings) -> None:
    """The sparsifier has the same components and no more edges."""
    graph = linalg.sparsify(A, random_state=0, **(settings or {"density": 1.2})).graph
    whole = graspel.Graph.from_adjacency(A)
    require(graph.components[0] == whole.components[0], "the sparsifier has other components")
    require(graph.n_edges <= whole.n_edges, "the sparsifier has more edges")


def run_coarsen(A: Any, settings: Settings) -> None:
    """Every node belongs to a group, and the coarse graph is finite."""
    coarse = linalg.coarsen(A, random_state=0, **settings)
    require(len(coarse.groups) == A.shape[0], "a node has no group")
    require(np.isfinite(coarse.graph.weights).all(), "a coarse weight is not finite")


def run_logdet(A: Any, settings: Settings) -> None:
    """The value is finite."""
    value, error = linalg.logdet(sp.csr_array(A), random_state=0, **{"shift": 1e-3, **settings})
    require(np.isfinite(value) and error >= 0, f"log-determinant {value} with error {error}")


def run_solver(A: Any, settings: Settings) -> None:
    """The solution is finite."""
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    x = linalg.LaplacianSolver(A, random_state=0).solve(b, **settings)
    require(np.isfinite(x).all(), "the solution is not finite")


def run_cluster_graph(A: Any, settings: Settings) -> None:
    """Labels from 0 to n_clusters - 1, each used."""
    found = cluster_graph(A, settings.get("n_clusters", "auto"), random_state=0)
    require(set(found.labels.tolist()) == set(range(found.n_clusters)), "a cluster is empty")


TARGETS: dict[str, Draw] = {
    "learner": draw_learner,
    "clusterer": draw_clusterer,
    "embedding": draw_embedding,
    "tsne": draw_tsne,
    "recovery": draw_recovery,
    "eigenpairs": _draw_kernel("graspel.linalg.smallest_eigenpairs", run_eigenpairs, k=[1, 2, 10, 60]),
    "resistance": _draw_kernel("graspel.linalg.effective_resistance", run_resistance),
    "sparsify": _draw_kernel("graspel.linalg.sparsify", run_sparsify, condition=[3.0, 30.0]),
    "coarsen": _draw_kernel("graspel.linalg.coarsen", run_coarsen, ratio=[1, 2, 20]),
    "logdet": _draw_kernel("graspel.linalg.logdet", run_logdet, shift=[1e-9, 1.0]),
    "solver": _draw_kernel("graspel.linalg.LaplacianSolver", run_solver),
    "cluster_graph": _draw_kernel("graspel.cluster_graph", run_cluster_graph, n_clusters=[1, 2, 5]),
}
TARGETS |= {f"{name}_low": with_low_limits(draw) for name, draw in TARGETS.items()}
