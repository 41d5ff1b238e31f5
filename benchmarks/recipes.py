"""Every recipe of docs/howto that hands our graph to another tool, beside the tool alone.

    GRASPEL_DATA=path/to/data python -m benchmarks.recipes              # continues where an earlier run stopped
    python -m benchmarks.recipes --only layouts                         # layouts, pipelines, communities, networks

Three sets, sampled to one size: the digits of scikit-learn, PenDigits, and `world/segment.npz` in the folder
GRASPEL_DATA (standardized features of patches of images; any file with X and y will do, see --set). A layout is scored
by the accuracy of 10 nearest neighbors in the plane in five folds, clusters and communities by the adjusted Rand index,
a network and a search for false rows as their tables say. Every tool runs at its defaults, but for what a row says.
Needs pip install -e ".[bench,test-ecosystem]".
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

from benchmarks.few_labels import draw_labels
from benchmarks.sections import Run, run_sections, titled_table
from graspel import GRASPEL, Graph, GraspelNeighbors, spectral_init
from graspel.graph import relative_weights
from reproduction.data import load_labeled

RESOLUTIONS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)  # of Leiden and Louvain; the best counts, for every graph
LABELS = 5  # labels of each class that the network is trained on
DRAWS = 3  # of these labels, and of the weights that the network starts from
EPOCHS = 200
FALSE = 0.05  # share of the rows that are made false for cleanlab to find

Value = float
Recipe = Callable[["Data"], Value]


class Data:
    """One set, and the graphs of it, each learned once."""

    def __init__(self, name: str, points: int) -> None:
        whole = load_labeled(name)
        X, y = np.asarray(whole.X, dtype=np.float32), whole.labelings[0] - 1
        chosen = np.sort(np.random.default_rng(0).permutation(len(X))[:points])
        self.X, self.y = X[chosen], y[chosen]
        self.n_classes = len(np.unique(self.y))
        self._graphs: dict[int, Graph] = {}

    def graph(self, n_neighbors: int = 2) -> Graph:
        if n_neighbors not in self._graphs:
            self._graphs[n_neighbors] = GRASPEL(n_neighbors, random_state=0).fit(self.X).graph_
        return self._graphs[n_neighbors]

    @property
    def start(self) -> np.ndarray:
        return spectral_init(self.graph()).astype(np.float32)

    def neighbors(self, n_neighbors: int, **how: Any) -> sp.csr_matrix:
        return GraspelNeighbors(n_neighbors, random_state=0, **how).fit_transform(self.X)

    def knn_graph(self, k: int) -> Graph:
        """The symmetric graph of the k nearest neighbors, without weights."""
        A = kneighbors_graph(self.X, k)
        return Graph.from_adjacency(A.maximum(A.T))

    def score_plane(self, rows: Any) -> Value:
        return float(cross_val_score(KNeighborsClassifier(10), np.asarray(rows), self.y, cv=5).mean())

    def score_clusters(self, labels: Any) -> Value:
        return float(adjusted_rand_score(self.y, np.asarray(labels)))


# --- layouts


def run_umap(data: Data, **how: Any) -> Value:
    import umap

    return data.score_plane(umap.UMAP(random_state=0, **how).fit_transform(data.X))


def run_opentsne(data: Data, affinities: Any = None, **how: Any) -> Value:
    import openTSNE

    X = None if affinities is not None else data.X
    return data.score_plane(openTSNE.TSNE(random_state=0).fit(X, affinities=affinities, **how))


def run_pacmap(data: Data, init: Any = None, **how: Any) -> Value:
    import pacmap

    return data.score_plane(pacmap.PaCMAP(random_state=0, **how).fit_transform(data.X, init=init))


def tsne_affinities(data: Data) -> Any:
    import openTSNE

    lists = openTSNE.nearest_neighbors.PrecomputedNeighbors(*data.graph(5).neighbor_lists(90))
    return openTSNE.affinity.PerplexityBasedNN(knn_index=lists, perplexity=30)


def pacmap_pairs(data: Data) -> np.ndarray:
    near = data.graph(5).neighbor_lists(10).indices
    return np.column_stack([np.repeat(np.arange(len(near)), 10), near.ravel()]).astype(np.int32)


LAYOUTS: dict[str, Recipe] = {
    "UMAP": run_umap,
    "UMAP, our start": lambda data: run_umap(data, init=data.start),
    "UMAP, our start and lists of `GRASPEL(5)`": lambda data: run_umap(
        data, init=data.start, precomputed_knn=(*data.graph(5).neighbor_lists(15, include_self=True), None)
    ),
    "openTSNE": run_opentsne,
    "openTSNE, our start": lambda data: run_opentsne(data, initialization=data.start.astype(np.float64)),
    "openTSNE, our start and lists of `GRASPEL(5)`": lambda data: run_opentsne(
        data, tsne_affinities(data), initialization=data.start.astype(np.float64)
    ),
    "PaCMAP": run_pacmap,
    "PaCMAP, our start": lambda data: run_pacmap(data, data.start),
    "PaCMAP, our start and lists of `GRASPEL(5)`": lambda data: run_pacmap(
        data, data.start, pair_neighbors=pacmap_pairs(data)
    ),
}


# --- pipelines of scikit-learn


def run_spectral(data: Data, X: Any, **how: Any) -> Value:
    from sklearn.cluster import SpectralClustering

    return data.score_clusters(SpectralClustering(data.n_classes, random_state=0, **how).fit_predict(X))


def run_hdbscan(data: Data, X: Any, **how: Any) -> Value:
    from sklearn.cluster import HDBSCAN

    return data.score_clusters(HDBSCAN(copy=True, **how).fit_predict(X))


def run_dbscan(data: Data, X: Any, **how: Any) -> Value:
    """The best of ten radii, from quantiles of the distance to the last neighbor in the lists."""
    from sklearn.cluster import DBSCAN

    lists = X if sp.issparse(X) else kneighbors_graph(X, 10, mode="distance")
    radii = np.quantile(lists.max(axis=1).toarray(), np.linspace(0.05, 0.95, 10))
    return max(data.score_clusters(DBSCAN(radius, **how).fit_predict(X)) for radius in radii)


def run_isomap(data: Data, X: Any, **how: Any) -> Value:
    from sklearn.manifold import Isomap

    return data.score_plane(Isomap(**how).fit_transform(X))


def run_tsne(data: Data, X: Any, **how: Any) -> Value:
    from sklearn.manifold import TSNE

    return data.score_plane(TSNE(random_state=0, **how).fit_transform(X))


def run_datalab(data: Data, learned: bool) -> Value:
    """How well false rows are found, each column of them from another row: area under the ROC curve."""
    from cleanlab import Datalab
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    X, false = data.X.copy(), np.zeros(len(data.X), dtype=bool)
    false[rng.permutation(len(X))[: int(FALSE * len(X))]] = True
    X[false] = X[rng.integers(len(X), size=(false.sum(), X.shape[1])), np.arange(X.shape[1])]
    lab = Datalab({"y": data.y}, label_name="y", verbosity=0)
    list_ours = GraspelNeighbors(10, include_self=False, random_state=0).fit_transform
    given = {"knn_graph": list_ours(X)} if learned else {"features": X}
    lab.find_issues(**given, issue_types={"outlier": {}})
    return float(roc_auc_score(false, -lab.get_issues("outlier").outlier_score))


PIPELINES: dict[str, Recipe] = {
    "SpectralClustering (nearest neighbors)": lambda data: run_spectral(data, data.X, affinity="nearest_neighbors"),
    "SpectralClustering on `GRASPEL()`": lambda data: run_spectral(
        data, data.graph().adjacency, affinity="precomputed"
    ),
    "Isomap (10 neighbors)": lambda data: run_isomap(data, data.X, n_neighbors=10),
    'Isomap on `GraspelNeighbors(mode="symmetric")`': lambda data: run_isomap(
        data, data.neighbors(15, mode="symmetric"), n_neighbors=None, radius=np.inf, metric="precomputed"
    ),
    'Isomap on `GraspelNeighbors(mode="symmetric", learner=GRASPEL(5))`': lambda data: run_isomap(
        data,
        data.neighbors(15, mode="symmetric", learner=GRASPEL(5)),
        n_neighbors=None,
        radius=np.inf,
        metric="precomputed",
    ),
    "TSNE": lambda data: run_tsne(data, data.X),
    "TSNE, our start": lambda data: run_tsne(data, data.X, init=data.start),
    "TSNE on `GraspelNeighbors(91)`": lambda data: run_tsne(
        data, data.neighbors(91), metric="precomputed", init=data.start
    ),
    "DBSCAN, best of ten radii": lambda data: run_dbscan(data, data.X),
    "DBSCAN on `GraspelNeighbors()`, best of ten radii": lambda data: run_dbscan(
        data, data.neighbors(15), metric="precomputed"
    ),
    "HDBSCAN": lambda data: run_hdbscan(data, data.X),
    'HDBSCAN on `GraspelNeighbors(mode="symmetric")`': lambda data: run_hdbscan(
        data, data.neighbors(15, mode="symmetric"), metric="precomputed"
    ),
    "cleanlab's Datalab, false rows": lambda data: run_datalab(data, learned=False),
    "cleanlab's Datalab on `GraspelNeighbors(10, include_self=False)`": lambda data: run_datalab(data, learned=True),
}


# --- communities


def find_communities(data: Data, graph: Graph, method: str, weighted: bool) -> Value:
    """The score of one method of igraph; of several resolutions the best counts."""
    G = relative_weights(graph).to_igraph()
    weights = "weight" if weighted else None
    if method == "Walktrap":
        return data.score_clusters(G.community_walktrap(weights).as_clustering(data.n_classes).membership)
    if method == "Infomap":
        return data.score_clusters(G.community_infomap(weights).membership)
    if method == "Louvain":
        found = [G.community_multilevel(weights, resolution=resolution) for resolution in RESOLUTIONS]
    else:
        found = [
            G.community_leiden("modularity", weights, resolution=resolution, n_iterations=5)
            for resolution in RESOLUTIONS
        ]
    return max(data.score_clusters(each.membership) for each in found)


def run_scanpy(data: Data, how: str) -> Value:
    """Leiden in scanpy, at the best resolution, on its own graph, on ours, or on its own weights of our neighbors."""
    import anndata
    import scanpy

    from graspel.integrations.scanpy import neighbors

    adata = anndata.AnnData(data.X)
    if how == "ours":
        neighbors(adata)
    else:
        transformer = GraspelNeighbors(15, random_state=0) if how == "transformer" else None
        scanpy.pp.neighbors(adata, use_rep="X", transformer=transformer)
    scores = []
    for resolution in RESOLUTIONS:
        scanpy.tl.leiden(adata, resolution=resolution, flavor="igraph", n_iterations=2, directed=False)
        scores.append(data.score_clusters(adata.obs.leiden))
    return max(scores)


def _of_igraph(method: str) -> dict[str, Recipe]:
    return {
        f"{method}, kNN graph": lambda data: find_communities(data, data.knn_graph(10), method, False),
        f"{method}, `GRASPEL(5)`, relative weights": lambda data: find_communities(data, data.graph(5), method, True),
        f"{method}, `GRASPEL(5)`, no weights": lambda data: find_communities(data, data.graph(5), method, False),
    }


COMMUNITIES: dict[str, Recipe] = {
    **_of_igraph("Leiden"),
    **_of_igraph("Louvain"),
    **_of_igraph("Walktrap"),
    **_of_igraph("Infomap"),
    "scanpy's Leiden, `scanpy.pp.neighbors`": lambda data: run_scanpy(data, "theirs"),
    "scanpy's Leiden, `graspel.integrations.scanpy.neighbors`": lambda data: run_scanpy(data, "ours"),
    "scanpy's Leiden, `transformer=GraspelNeighbors(15)`": lambda data: run_scanpy(data, "transformer"),
}


# --- networks


def train_network(data: Data, graph: Graph) -> Value:
    """Accuracy of a GCN of two layers on the points without a label, mean of several draws."""
    import torch
    from torch_geometric.nn import GCNConv

    X = (data.X - data.X.mean(axis=0)) / (data.X.std(axis=0) + 1e-6)
    scores = []
    for draw in range(DRAWS):
        few = draw_labels(data.y, LABELS, draw)
        torch.manual_seed(draw)
        given = graph.to_pyg(X, few)
        known = given.y >= 0
        first, second = GCNConv(X.shape[1], 32), GCNConv(32, data.n_classes)
        steps = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01, weight_decay=5e-4)
        for _ in range(EPOCHS):
            hidden = torch.relu(first(given.x, given.edge_index, given.edge_weight))
            out = second(torch.dropout(hidden, 0.5, True), given.edge_index, given.edge_weight)
            loss = torch.nn.functional.cross_entropy(out[known], given.y[known])
            steps.zero_grad()
            loss.backward()
            steps.step()
        hidden = torch.relu(first(given.x, given.edge_index, given.edge_weight))
        classes = second(hidden, given.edge_index, given.edge_weight).argmax(dim=1).numpy()
        scores.append(float((classes == data.y)[few < 0].mean()))
    return float(np.mean(scores))


NETWORKS: dict[str, Recipe] = {
    "GCN, kNN graph": lambda data: train_network(data, data.knn_graph(10)),
    "GCN, `GRASPEL()`": lambda data: train_network(data, data.graph()),
    "GCN, `GRASPEL()`, relative weights": lambda data: train_network(data, relative_weights(data.graph())),
    "GCN, `GRASPEL(5)`, relative weights": lambda data: train_network(data, relative_weights(data.graph(5))),
}


def compare(title: str, recipes: Mapping[str, Recipe]) -> Callable[[Run], str]:
    """The section that runs these recipes on every set."""

    def section(results: Run) -> str:
        points = results.options.points
        names = ("digits", "pendigits", results.options.set)
        sets: dict[str, Data] = {}

        def value(recipe: str, name: str) -> Value:
            if name not in sets:
                sets[name] = Data(name, points)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return recipes[recipe](sets[name])

        def cell(recipe: str, name: str) -> str:
            return f"{results.measure(f'{recipe}/{name}/{points}', lambda: value(recipe, name)):.3f}"

        rows = [[recipe, *(cell(recipe, name) for name in names)] for recipe in recipes]
        return titled_table(title, ["tool", *(name.rpartition("/")[2] for name in names)], rows)

    return section


SECTIONS = {
    "layouts": compare("Accuracy of 10 nearest neighbors in the plane", LAYOUTS),
    "pipelines": compare(
        "Adjusted Rand index; Isomap, TSNE: accuracy in the plane; Datalab: area under ROC", PIPELINES
    ),
    "communities": compare("Adjusted Rand index, the best of six resolutions", COMMUNITIES),
    "networks": compare(f"Accuracy with {LABELS} labels a class", NETWORKS),
}
OPTIONS = (
    ("--points", {"type": int, "default": 2000, "help": "larger sets are sampled down to so many points"}),
    ("--set", {"default": "world/segment", "help": "the third set: a file in GRASPEL_DATA, without .npz"}),
)

if __name__ == "__main__":
    run_sections("recipes", __doc__, SECTIONS, more=OPTIONS)
