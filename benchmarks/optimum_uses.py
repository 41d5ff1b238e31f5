"""What the optimum is good for: the same uses on the graphs of four ways to learn, and on those of other methods.

    python -m benchmarks.optimum_uses                  # everything; continues where an earlier run stopped
    python -m benchmarks.optimum_uses --only columns   # graphs, clusters, labels, pictures, columns, penalty,
                                                       # sparse, peers
    python -m benchmarks.optimum_uses --fresh          # forget what earlier runs measured

Needs the data sets (GRASPEL_DATA or the cache). Every use treats all graphs alike: one assignment stage, one harmonic
function, one t-SNE whose only input are the weights. No setting of a graph was chosen with the classes known.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from benchmarks.few_labels import draw_labels
from benchmarks.sections import FOLDER, Run, run_sections, titled_table
from graspel import GRASPEL
from graspel.graph import Graph
from graspel.linalg import sparsify
from graspel.optimum.solver import refine_weights
from reproduction.baselines import GLSC, KNN, LSGL, GLLogDet, GLSigRep, GraphicalLasso, LogDegree
from reproduction.clusterings import ASSIGNMENTS, join_components
from reproduction.data import load_data

SETS = ("coil20", "digits", "pendigits", "usps")
SMALL = 300  # points of each set on which the peers that look at all pairs are compared
SEEDS = 3  # of the assignment stage
DRAWS = 5  # draws of the labels
LABELS = (1, 5, 10)  # labels of each class
SPLITS, PEER_SPLITS = 5, 3  # of the columns
HELD_OUT = 0.2  # share of the columns that no graph sees

Learn = Callable[[np.ndarray], Graph]

KINDS: dict[str, Learn] = {
    "10NN, Gaussian": lambda X: KNN(10).learn(X, 0),
    "10NN, 1/z": lambda X: KNN(10, weights="inverse").learn(X, 0),
    "default": lambda X: GRASPEL(random_state=0).fit(X).graph_,
    "refine": lambda X: GRASPEL(weights="refined", random_state=0).fit(X).graph_,
    "optimal": lambda X: GRASPEL(weights="optimal", random_state=0).fit(X).graph_,
}


def points_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The points of a set, and their classes as numbers."""
    whole = load_data(name)
    return np.asarray(whole.X, dtype=np.float64), np.unique(whole.y, return_inverse=True)[1]


def learn_connected(learn: Learn, X: np.ndarray) -> Graph:
    """The graph of a method; where it is not connected, its components are joined by their closest pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return join_components(learn(X), X, 0)


@lru_cache(maxsize=len(KINDS))
def learned(name: str, kind: str) -> Graph:
    """The graph of a whole set; kept until the next set, because all uses need it."""
    return learn_connected(KINDS[kind], points_of(name)[0])


def table_of(results: Run, section: str, title: str, measured: Callable[..., dict[str, Any]], show: Any) -> str:
    """One row per kind of graph and one cell per set."""
    cells = {
        (kind, name): results.measure(f"{section}/{name}/{kind}", lambda a=(name, kind): measured(*a))
        for name in SETS
        for kind in KINDS
    }
    rows = [[kind, *(show(cells[kind, name]) for name in SETS)] for kind in KINDS]
    return titled_table(title, ["graph", *SETS], rows)


def graphs(results: Run) -> str:
    """How sparse the graphs are."""

    def density(name: str, kind: str) -> dict[str, float]:
        return {"density": learned(name, kind).density}

    return table_of(results, "graphs", "Edges per node", density, lambda m: f"{m['density']:.2f}")


def measure_clusters(name: str, kind: str) -> dict[str, float]:
    """Accuracy and NMI of one graph's clusters: our assignment stage, and k-means on K eigenvectors as in the paper."""
    from sklearn.metrics import normalized_mutual_info_score

    from graspel.metrics import clustering_accuracy

    y, graph = points_of(name)[1], learned(name, kind)
    found = {}
    for stage in ("ward", "paper"):
        labels = [ASSIGNMENTS[stage](graph, len(np.unique(y)), seed) for seed in range(SEEDS)]
        found[f"{stage}/acc"] = float(np.mean([clustering_accuracy(y, found) for found in labels]))
        found[f"{stage}/nmi"] = float(
            np.mean([normalized_mutual_info_score(y, found, average_method="geometric") for found in labels])
        )
    return found


def clusters(results: Run) -> str:
    """Clusters of one graph, no consensus."""
    title = "Clusters of one graph, ACC / NMI: our assignment stage; in brackets k-means on K eigenvectors"
    return table_of(
        results,
        "clusters",
        title,
        measure_clusters,
        lambda m: f"{m['ward/acc']:.3f} / {m['ward/nmi']:.3f} ({m['paper/acc']:.3f} / {m['paper/nmi']:.3f})",
    )


def measure_labels(name: str, kind: str) -> dict[str, float]:
    """Accuracy on the unlabeled points of harmonic functions with class mass normalization."""
    from graspel.linalg.harmonic import harmonic_function, normalize_class_mass

    y, graph = points_of(name)[1], learned(name, kind)
    found = {}
    for per_class in LABELS:
        shares = []
        for draw in range(DRAWS):
            few = draw_labels(y, per_class, draw)
            known = np.flatnonzero(few >= 0)
            Y = np.eye(y.max() + 1)[few[known]]
            f = np.clip(harmonic_function(graph, known, Y)[few < 0], 0.0, 1.0)
            shares.append(np.mean(normalize_class_mass(f, Y.mean(axis=0)).argmax(axis=1) == y[few < 0]))
        found[str(per_class)] = float(np.mean(shares))
    return found


def labels(results: Run) -> str:
    """Few labels, spread along one graph."""
    title = "Label propagation: accuracy with 1, 5 and 10 labels of each class"
    return table_of(results, "labels", title, measure_labels, lambda m: " / ".join(f"{m[str(k)]:.3f}" for k in LABELS))


def measure_pictures(name: str, kind: str) -> dict[str, float]:
    """A picture by t-SNE whose affinities are the weights of the graph, each node's scaled to sum one."""
    from graspel.estimators.tsne import EXAGGERATION, RATE, WIDTH
    from graspel.learning.embed import spectral_start
    from graspel.metrics import label_accuracy, neighbors_kept
    from graspel.tsne.affinities import normalize
    from graspel.tsne.engine import Iterations, optimize

    (X, y), graph = points_of(name), learned(name, kind)
    W = graph.adjacency
    shares = sp.csr_array(sp.diags_array(1 / W.sum(axis=1)) @ W)
    start = spectral_start(graph, 2, np.random.default_rng(0), None)
    schedule = [Iterations(100, EXAGGERATION, 1 / EXAGGERATION), Iterations(900, 1.0, RATE, 0.006, WIDTH)]
    P = normalize(sp.csr_array(shares + shares.T))
    Y = optimize(P, start, schedule, phase="t-SNE", n_threads=2).coordinates
    kept = neighbors_kept(X, Y)
    return {
        "preservation": kept.preservation,
        "trustworthiness": kept.trustworthiness,
        "accuracy": label_accuracy(Y, y),
    }


def pictures(results: Run) -> str:
    """Pictures drawn from the weights alone."""
    title = "t-SNE from the weights alone: 10 neighbors kept / trustworthiness / class by 10 neighbors in the picture"
    show = "{preservation:.3f} / {trustworthiness:.3f} / {accuracy:.3f}"
    return table_of(results, "pictures", title, measure_pictures, lambda m: show.format(**m))


def held_out_likelihood(learn: Learn, X: np.ndarray, split: int) -> dict[str, float]:
    """F per node of columns that the graph was not learned from, and of those that it was.

    All weights are multiplied by the factor that is best for the columns of the graph. Distances are in units of their
    mean over random pairs.
    """
    rng = np.random.default_rng(split)
    order = rng.permutation(X.shape[1])
    n_test = max(1, round(HELD_OUT * X.shape[1]))
    test, train = X[:, order[:n_test]], X[:, order[n_test:]]
    graph = learn_connected(learn, train)
    unit = 2 * train.var(axis=0).mean()
    z_train, z_test = (((part[graph.heads] - part[graph.tails]) ** 2).mean(axis=1) / unit for part in (train, test))
    n = graph.n_nodes - 1
    scale = n / float(graph.weights @ z_train)
    whole = log_determinant(graph) + n * np.log(scale)
    return {
        "train": float(whole / n - 1),
        "test": float(whole - scale * float(graph.weights @ z_test)) / n,
        "density": graph.density,
    }


def log_determinant(graph: Graph) -> float:
    """The logarithm of the sum over spanning trees, by elimination of all nodes but one (matrix-tree theorem)."""
    L = sp.csc_array(graph.laplacian)[1:, 1:]
    factor = splu(L, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return float(np.log(factor.U.diagonal()).sum())


def measure_columns(learn: Learn, X: np.ndarray, n_splits: int = SPLITS) -> dict[str, Any]:
    """Means over the splits, and the held-out likelihood of each."""
    found = [held_out_likelihood(learn, X, split) for split in range(n_splits)]
    means: dict[str, Any] = {name: float(np.mean([one[name] for one in found])) for name in ("train", "test")}
    return means | {"tests": [one["test"] for one in found]}


def columns(results: Run) -> str:
    """Log-likelihood of columns that were held out, whole sets."""
    title = "Log-likelihood of held-out columns (a fifth), F per node; in brackets that of the columns learned from"
    return table_of(
        results,
        "columns",
        title,
        lambda name, kind: measure_columns(KINDS[kind], points_of(name)[0]),
        lambda m: f"{m['test']:.3f} ({m['train']:.3f})",
    )


DENSITIES = (1.0, 1.2, 1.5, 2.0, 3.0)  # edges per node that are asked for
SPARSE_SETS, SPARSE_SPLITS = ("digits",), 1


def sparser(density: float | None, optimum: Learn = KINDS["optimal"]) -> Learn:
    """The optimum, sparsified to a density, with the weights that are then best; None for the optimum itself."""

    def learn(X: np.ndarray) -> Graph:
        graph = optimum(X)
        if density is None or density * graph.n_nodes >= graph.n_edges:
            return graph
        kept = sparsify(graph, density=max(density, 1 - 1 / graph.n_nodes)).graph
        return refine_weights(kept, ((X[kept.heads] - X[kept.tails]) ** 2).sum(axis=1), np.random.default_rng(0)).graph

    return learn


def measure_sparse(name: str) -> list[list[float]]:
    """Edges per node, and F per node of the columns learned from and of others, for each density and the optimum."""
    X = points_of(name)[0]
    rows = []
    for split in range(SPARSE_SPLITS):
        optimum = lru_cache(lambda train: KINDS["optimal"](np.frombuffer(train).reshape(len(X), -1)))
        for density in (*DENSITIES, None):
            learn = sparser(density, lambda train, optimum=optimum: optimum(train.tobytes()))
            found = held_out_likelihood(learn, X, split)
            rows.append([found["density"], found["train"], found["test"]])
    return np.array(rows).reshape(SPARSE_SPLITS, -1, 3).mean(axis=0).tolist()


def sparse(results: Run) -> str:
    """How many edges the optimum needs: sparsified, with new weights; and the figure."""
    import matplotlib.pyplot as plt

    from graspel import plot

    _, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    found = {name: results.measure(f"sparse/{name}", lambda name=name: measure_sparse(name)) for name in SPARSE_SETS}
    for name, of in found.items():
        density, train, test = np.transpose(of)
        line = axes.plot(density, train - train[-1], marker="o", label=f"{name}, columns learned from")[0]
        axes.plot(density, test - test[-1], marker="o", linestyle="--", color=line.get_color(), label="held out")
    axes.set(xlabel="edges per node", ylabel="F per node below the optimum's")
    axes.legend(frameon=False)
    FOLDER.mkdir(exist_ok=True)
    plot.save(axes, FOLDER / "sparse.png")
    rows = [
        [name, *(f"{density:.2f}: {train:.3f} / {test:.3f}" for density, train, test in of)]
        for name, of in found.items()
    ]
    title = "The optimum, sparsified and weighted anew: edges per node: F of the columns learned from / held out"
    return titled_table(title, ["set", *(f"{d:g} asked" for d in DENSITIES), "optimum"], rows)


def with_setting(method: Callable[[float], Any]) -> Callable[[float], Learn]:
    """A peer as a function of its setting, on columns of mean zero and variance one on average."""
    return lambda setting: lambda X: method(setting).learn((X - X.mean(axis=0)) / X.std())


def penalized_optimum(alpha: float) -> Learn:
    """Our optimum with the penalty that GLSC has at this alpha; z_data has another unit than the peers' distances."""

    def learn(X: np.ndarray) -> Graph:
        centered = X - X.mean(axis=0)
        unit = float(np.linalg.norm(centered, 2) ** 2 / (X.std() ** 2 * X.shape[1]))
        return GRASPEL(weights="optimal", beta=alpha / unit, random_state=0).fit(X).graph_

    return learn


PENALTIES = (0.001, 0.01, 0.1)
FEW_COLUMNS, WHOLE_PENALTIES = ("digits", "pendigits"), (0.001, 0.01, 0.03)
SETTINGS: dict[str, tuple[Callable[[float], Learn], tuple[float, ...]]] = {
    "optimal, beta": (penalized_optimum, PENALTIES),
    "GLSC, alpha": (with_setting(lambda v: GLSC(alpha=v, tol=1e-3)), PENALTIES),
    "GL-LogDet, lambda": (with_setting(lambda v: GLLogDet(penalty=v, tol=1e-3)), (0.1, 1.0, 10.0)),
    "GL-SigRep, beta": (with_setting(lambda v: GLSigRep(beta=v, tol=1e-3)), (0.01, 0.1, 0.6)),
    "log-degree, beta": (with_setting(lambda v: LogDegree(beta=v)), (0.1, 1.0, 10.0)),
    "LSGL, degree": (with_setting(lambda v: LSGL(int(v))), (3.0, 5.0, 10.0)),
    "graphical lasso, alpha": (with_setting(lambda v: GraphicalLasso(alpha=v)), (0.2, 0.5, 1.0)),
}


def penalty(results: Run) -> str:
    """Held-out columns of the sets with few columns, by the strength of the penalty."""
    rows = []
    for name in FEW_COLUMNS:
        found = [
            results.measure(
                f"penalty/{name}/{a}",
                lambda a=(a, name): measure_columns(penalized_optimum(a[0]), points_of(a[1])[0]),
            )
            for a in WHOLE_PENALTIES
        ]
        rows.append([name, *(f"{m['test']:.3f} ({m['train']:.3f})" for m in found)])
    title = "The optimum with a penalty, held-out columns of whole sets; alpha in units of the variance of a column"
    return titled_table(title, ["set", *map(str, WHOLE_PENALTIES)], rows)


def sample(name: str) -> np.ndarray:
    """Some random points of a set."""
    X = points_of(name)[0]
    return X[np.random.default_rng(0).permutation(len(X))[:SMALL]]


def measure_peer(learn: Learn, name: str) -> dict[str, Any]:
    """A peer on few points; it may refuse the data, or find no edge."""
    try:
        return measure_columns(learn, sample(name), PEER_SPLITS)
    except (ValueError, ZeroDivisionError) as error:
        return {"train": float("-inf"), "test": float("-inf"), "error": str(error)}


def peers(results: Run) -> str:
    """Held-out columns again, on few points, with the methods that look at all pairs."""
    ways = {(kind, ""): learn for kind, learn in KINDS.items()}
    ways |= {(name, f"{value:g}"): make(value) for name, (make, values) in SETTINGS.items() for value in values}
    found = {
        (kind, setting, name): results.measure(
            f"peers/{name}/{kind} {setting}", lambda a=(learn, name): measure_peer(*a)
        )
        for (kind, setting), learn in ways.items()
        for name in SETS
    }
    rows = []
    for kind in dict.fromkeys(kind for kind, _ in ways):
        cells = []
        for name in SETS:
            settings = [setting for other, setting in ways if other == kind]
            best = max(settings, key=lambda setting: found[kind, setting, name]["test"])
            m = found[kind, best, name]
            cells.append(f"{m['test']:.3f} ({m['train']:.3f}){', ' + best if best else ''}")
        rows.append([kind, *cells])
    title = f"The same on {SMALL} points of each set. A setting is the best of three for the held-out columns"
    return titled_table(title, ["graph", *SETS], rows)


SECTIONS = {
    "graphs": graphs,
    "clusters": clusters,
    "labels": labels,
    "pictures": pictures,
    "columns": columns,
    "penalty": penalty,
    "sparse": sparse,
    "peers": peers,
}

if __name__ == "__main__":
    run_sections("optimum_uses", __doc__, SECTIONS)
