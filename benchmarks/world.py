"""The whole fit beside searches for neighbors alone, on the data that people have, and its growth.

    python -m benchmarks.world                   # everything; continues where an earlier run stopped
    python -m benchmarks.world --only text       # embeddings, text, images, manifold, searches, growth, kernels
    python -m benchmarks.world --largest 10000000  # growth to ten million points; the default is one million
    python -m benchmarks.world --fresh           # forget what earlier runs measured

Every data set runs in a process of its own, in which the rivals take turns; the faster of two runs counts. The ratio is
given in seconds of the clock and of the processor, which other work on the machine disturbs less. The recall of the two
nearest neighbors is measured by exact search of a sample. `searches` compares the search alone, for 2, 15 and 30
neighbors. Needs hnswlib, and takes pynndescent and faiss if they are there (pip install -e ".[bench]"); `debian.npz`,
sentence embeddings and texts of 63,620 packages of Debian, is looked for in the folder GRASPEL_DATA.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.scaling import manifold, peak_memory
from benchmarks.sections import Run, run_sections, titled_table
from reproduction.data import load_data, load_labeled
from reproduction.timing import call_apart, run_python

REPEATS = 2  # runs of each rival, of which the fastest counts
NEIGHBORS = 10  # neighbors that the rivals search for
LENGTHS = (2, 15, 30)  # neighbors that searches alone are compared for
PROBES = 16  # cells of faiss' inverted file that each query looks into
SAMPLE = 500  # points whose neighbors are searched exactly
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)  # of the growth
GROWING = (25_000, 50_000, 100_000, 200_000)  # of the growth in 384 dimensions

CLUSTERS = 200  # of the synthetic embeddings
DIMENSION = 24  # of each cluster, about the intrinsic dimension of sentence embeddings

Rows = Any


def load_texts(n: int | None) -> sp.csr_array:
    """TF-IDF of n of the texts, chosen at random; None for all."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    with np.load(Path(os.environ.get("GRASPEL_DATA", ".")) / "debian.npz", allow_pickle=False) as arrays:
        texts = arrays["text"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[:n])
    return sp.csr_array(TfidfVectorizer().fit_transform(texts[chosen]))


def clustered_directions(n: int, n_features: int = 384, seed: int = 0) -> np.ndarray:
    """Unit vectors in 200 clusters of dimension about 24, like sentence embeddings."""
    rng, shape = np.random.default_rng(seed), np.random.default_rng(1)
    label = rng.integers(CLUSTERS, size=n)
    X = np.empty((n, n_features), dtype=np.float32)
    for cluster in range(CLUSTERS):
        rows = np.flatnonzero(label == cluster)
        center, basis = 2 * shape.standard_normal(n_features), shape.standard_normal((DIMENSION, n_features))
        inside = rng.standard_normal((len(rows), DIMENSION)) / np.sqrt(DIMENSION) @ basis
        X[rows] = center + inside + 0.05 * rng.standard_normal((len(rows), n_features))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def search_by_hnsw(X: Rows, metric: str, k: int = NEIGHBORS) -> Any:
    """hnswlib with two threads, in the setting that all our tables use."""
    import hnswlib

    index = hnswlib.Index("cosine" if metric == "cosine" else "l2", X.shape[1])
    index.init_index(len(X), M=16, ef_construction=60, random_seed=0)
    index.set_num_threads(os.cpu_count() or 1)
    index.add_items(X)
    index.set_ef(max(40, 2 * k))
    return index.knn_query(X, k + 1)[0]


def search_by_descent(X: Rows, metric: str, k: int = NEIGHBORS) -> Any:
    """pynndescent in its default setting; the first of the runs compiles."""
    from pynndescent import NNDescent

    return NNDescent(X, metric=metric, n_neighbors=k + 1, random_state=0).neighbor_graph[0]


def search_by_faiss(X: Rows, metric: str, k: int = NEIGHBORS) -> Any:
    """The graph index of faiss with the parameters of hnswlib."""
    import faiss

    rows = _unit_rows(X, metric)
    index = faiss.IndexHNSWFlat(rows.shape[1], 16)
    index.hnsw.efConstruction, index.hnsw.efSearch = 60, max(40, 2 * k)
    index.add(rows)
    return index.search(rows, k + 1)[1]


def search_by_cells(X: Rows, metric: str, k: int = NEIGHBORS) -> Any:
    """The inverted file of faiss, with 4 sqrt(N) cells."""
    import faiss

    rows = _unit_rows(X, metric)
    n_cells = int(4 * np.sqrt(len(rows)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(rows.shape[1]), rows.shape[1], n_cells)
    index.train(rows)
    index.add(rows)
    index.nprobe = PROBES
    return index.search(rows, k + 1)[1]


def _unit_rows(X: Rows, metric: str) -> np.ndarray:
    rows = np.ascontiguousarray(X, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if metric == "cosine" else rows


def search_all(X: Rows, metric: str, k: int = NEIGHBORS) -> Any:
    """scikit-learn, all distances."""
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=k, algorithm="brute", metric=metric, n_jobs=-1).fit(X)
    return model.kneighbors(return_distance=False)


PEERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "hnswlib": ("hnswlib", search_by_hnsw),
    "pynndescent": ("pynndescent", search_by_descent),
    "faiss, HNSW": ("faiss", search_by_faiss),
    "faiss, IVF": ("faiss", search_by_cells),
    "scikit-learn": ("sklearn", search_all),
}

# Data sets: how they are made, the metric, and the rivals.
DENSE = ("hnswlib", "pynndescent", "faiss, HNSW", "faiss, IVF")
SETS: dict[str, tuple[Callable[[], Rows], str, tuple[str, ...]]] = {
    "debian": (lambda: load_labeled("debian").X, "cosine", DENSE),
    "directions": (lambda: clustered_directions(100_000), "cosine", DENSE),
    "text": (lambda: load_texts(12_000), "cosine", ("scikit-learn",)),
    "all-text": (lambda: load_texts(None), "cosine", ()),
    "mnist": (lambda: load_data("mnist").X.astype(np.float32), "euclidean", DENSE),
    "manifold": (lambda: manifold(1_000_000), "euclidean", ("hnswlib",)),
    **{f"directions-{n}": ((lambda n=n: clustered_directions(n)), "cosine", ()) for n in GROWING},
    **{f"manifold-{n}": ((lambda n=n: manifold(n)), "euclidean", ()) for n in SIZES},
}


def measure_set(name: str) -> dict[str, Any]:
    """Seconds of the clock and of the processor, recall and memory of ours and of the rivals."""
    from graspel import GRASPEL

    make, metric, rivals = SETS[name]
    X = make()
    before = peak_memory()
    runs: dict[str, list[tuple[float, float]]] = {}
    lists: dict[str, Any] = {}
    learner = GRASPEL(metric=metric, random_state=0)
    answer: dict[str, Any] = {"shape": X.shape, "missing": [r for r in rivals if find_spec(PEERS[r][0]) is None]}
    for _ in range(REPEATS if X.shape[0] < 5_000_000 else 1):
        runs.setdefault("ours", []).append(_clocked(lambda: learner.fit(X))[0])
        answer.setdefault("memory", peak_memory() - before)
        for rival in rivals:
            if rival not in answer["missing"]:
                seconds, lists[rival] = _clocked(lambda rival=rival: PEERS[rival][1](X, metric))
                runs.setdefault(rival, []).append(seconds)
    answer["seconds"] = {who: min(run[0] for run in times) for who, times in runs.items()}
    answer["processor"] = {who: min(run[1] for run in times) for who, times in runs.items()}
    certificate = learner.certificate_
    answer |= {"connected": certificate.connected, "density": certificate.density, "rounds": certificate.n_rounds}
    answer["recall"] = {"ours": certificate.neighbor_recall}
    answer["recall"] |= {who: share_found(X, metric, found) for who, found in lists.items()}
    return answer


def measure_searches(name: str) -> dict[str, Any]:
    """Seconds and recall of searches for several numbers of neighbors: ours, and those of the rivals that are there."""
    from graspel import NeighborIndex

    make, metric, rivals = SETS[name]
    X = make()
    answer: dict[str, Any] = {"shape": X.shape, "lengths": {}}
    for k in LENGTHS:
        found = answer["lengths"][str(k)] = {}
        for who in ("ours", *(rival for rival in rivals if find_spec(PEERS[rival][0]) is not None)):
            times = []
            for _ in range(REPEATS):
                if who == "ours":
                    index = NeighborIndex(X, metric=metric, random_state=0)
                    seconds, lists = _clocked(lambda index=index, k=k: index.lists(k))
                    lists = _all_lists(lists)
                else:
                    seconds, lists = _clocked(lambda who=who, k=k: PEERS[who][1](X, metric, k))
                times.append(seconds)
            found[who] = [min(part) for part in zip(*times, strict=True)] + [share_found(X, metric, lists, k)]
    return answer


def _all_lists(neighbors: Any) -> np.ndarray:
    """The lists of all points; a copy has its original and that one's neighbors."""
    n = len(neighbors.distinct) + len(neighbors.copies)
    lists = np.empty((n, neighbors.indices.shape[1]), dtype=np.int64)
    lists[neighbors.distinct] = neighbors.distinct[neighbors.indices]
    lists[neighbors.copies, 0] = neighbors.copy_of
    lists[neighbors.copies, 1:] = lists[neighbors.copy_of, :-1]
    return lists


def searches(results: Run) -> str:
    """Searches alone, for several numbers of neighbors."""
    rows = []
    for name in ("debian", "mnist", "directions"):
        run = results.measure(f"{name}/searches", lambda name=name: call_apart(measure_searches, name))
        for k, found in run["lengths"].items():
            for who, (clock, processor, recall) in found.items():
                ours = found["ours"]
                ratio = "" if who == "ours" else f"{ours[0] / clock:.2f} ({ours[1] / processor:.2f})"
                rows.append([name if who == "ours" else "", k, who, f"{clock:.2f} s", f"{processor:.2f} s", ratio,
                             f"{recall:.4f}"])  # fmt: skip
    header = ["search alone", "k", "who", "clock", "processor", "ours / rival (processor)", "recall@k"]
    return titled_table("Searches", header, rows)


def _clocked(run: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """Seconds of the clock and of all threads of this process, and the value."""
    started = time.perf_counter(), time.process_time()
    value = run()
    return (time.perf_counter() - started[0], time.process_time() - started[1]), value


def share_found(X: Rows, metric: str, lists: Any, k: int = 2) -> float:
    """Recall@k of neighbor lists, by exact search of a sample."""
    sample = np.sort(np.random.default_rng(99).choice(X.shape[0], min(SAMPLE, X.shape[0]), replace=False))
    if metric == "cosine":
        norms = sp.linalg.norm(X, axis=1) if sp.issparse(X) else np.linalg.norm(X, axis=1)
        X = sp.csr_array(X).multiply(1 / norms[:, None]).tocsr() if sp.issparse(X) else X / norms[:, None]
    products = X[sample] @ X.T
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    D = squares - 2 * (products.toarray() if sp.issparse(products) else products)
    D[np.arange(len(sample)), sample] = np.inf
    last = np.partition(D, k - 1, axis=1)[:, k - 1]
    hits = 0
    for row, (point, limit) in enumerate(zip(sample, last, strict=True)):
        found = [j for j in lists[point] if j not in (point, -1)][:k]
        hits += int((D[row, found] <= limit + 1e-6 * abs(limit)).sum())
    return hits / (k * len(sample))


def compare(results: Run, title: str, wanted: dict[str, dict[str, str]]) -> str:
    """A table of some data sets: ours, and each rival with its ratio and the one wanted."""
    rows = []
    for name, limits in wanted.items():
        run = results.measure(name, lambda name=name: call_apart(measure_set, name))
        shape = " x ".join(f"{side:,}" for side in run["shape"])
        for who, seconds in run["seconds"].items():
            ours = who == "ours"
            ratio = run["seconds"]["ours"] / seconds, run["processor"]["ours"] / run["processor"][who]
            rows.append(
                [
                    f"{name}, {shape}" if ours else f"... {who}, {NEIGHBORS} neighbors",
                    f"{seconds:.2f} s",
                    f"{run['processor'][who]:.2f} s",
                    "" if ours else f"{ratio[0]:.2f} ({ratio[1]:.2f})",
                    f"{run['recall'][who]:.4f}",
                    f"{run['memory'] / 1e9:.2f} GB" if ours else "",
                    limits.get(who, ""),
                ]
            )
    header = ["whole fit", "clock", "processor", "ours / rival (processor)", "recall@2", "memory", "wanted"]
    return titled_table(title, header, rows)


def growth(results: Run) -> str:
    """Seconds of the processor against the number of points, and the exponent between neighbors in the table."""
    rows = []
    for kind, sizes in (("directions", GROWING), ("manifold", SIZES)):
        before: tuple[int, float] | None = None
        for n in sizes:
            if n > results.options.largest:
                continue
            run = results.measure(f"{kind}-{n}", lambda name=f"{kind}-{n}": call_apart(measure_set, name))
            seconds = run["processor"]["ours"]
            slope = "" if before is None else f"{np.log(seconds / before[1]) / np.log(n / before[0]):.2f}"
            rows.append([f"{kind}, {n:,}", f"{run['seconds']['ours']:.2f} s", f"{seconds:.2f} s", slope,
                         f"{run['memory'] / 1e9:.2f} GB", f"{run['recall']['ours']:.4f}"])  # fmt: skip
            before = n, seconds
    header = ["points", "clock", "processor", "exponent (at most 1.15)", "memory beside X", "recall@2"]
    return titled_table("Growth", header, rows)


def kernels(results: Run) -> str:
    """The first use of the compiled kernels, a later process, and the import of the package."""
    code = (
        "import time, json, numpy as np; t = time.perf_counter(); import graspel; i = time.perf_counter() - t\n"
        "from graspel import GRASPEL; X = np.random.default_rng(0).standard_normal((25000, 16)).astype(np.float32)\n"
        "import scipy.sparse as sp; S = sp.random_array((5000, 400), density=.03, rng=0, format='csr')\n"
        "GRASPEL(max_iter=1).fit(X[:500]); times = []\n"
        "for _ in range(2):\n"
        "    t = time.perf_counter(); GRASPEL(random_state=0).fit(X); GRASPEL(random_state=0).fit(S)\n"
        "    times.append(time.perf_counter() - t)\n"
        "print(json.dumps([i, times[0] - times[1]]))"
    )

    def first_and_later() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["NUMBA_CACHE_DIR"] = folder
            try:
                runs = [run_python(code) for _ in range(3)]
            finally:
                del os.environ["NUMBA_CACHE_DIR"]
        return {"import": min(run[0] for run in runs), "first": runs[0][1], "later": min(run[1] for run in runs[1:])}

    run = results.measure("kernels", first_and_later)
    rows = [
        ["import graspel", f"{run['import']:.2f} s", "< 0.3 s"],
        ["all kernels, first use of all", f"{run['first']:.1f} s", "< 15 s"],
        ["all kernels, later process", f"{run['later']:.2f} s", "< 1.5 s"],
    ]
    return titled_table("Compiled kernels: seconds above those of the second fit", ["what", "measured", "wanted"], rows)


SECTIONS: dict[str, Callable[[Run], str]] = {
    "embeddings": lambda results: compare(
        results,
        "Embeddings",
        {
            "debian": {"ours": "recall >= .99", "hnswlib": "<= .6", "pynndescent": "<= 2"},
            "directions": {"ours": "recall >= .99", "pynndescent": "<= 2"},
        },
    ),
    "text": lambda results: compare(
        results, "Texts as TF-IDF", {"text": {"scikit-learn": "<= 2"}, "all-text": {"ours": "< 2 GB"}}
    ),
    "images": lambda results: compare(
        results, "MNIST", {"mnist": {"ours": "recall >= .99", "hnswlib": "<= .3", "pynndescent": "<= 1"}}
    ),
    "manifold": lambda results: compare(
        results, "A million points", {"manifold": {"ours": "< .6 GB", "hnswlib": "<= .8"}}
    ),
    "searches": searches,
    "growth": growth,
    "kernels": kernels,
}


OPTIONS = (("--largest", {"type": int, "default": 1_000_000, "help": "largest number of points of the growth"}),)

if __name__ == "__main__":
    run_sections("world", __doc__, SECTIONS, more=OPTIONS)
