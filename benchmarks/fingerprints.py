"""Fingerprints: a short hash of every result, to see whether a change moved one by a single bit.

    python -m benchmarks.fingerprints --output before.json     # before a change
    python -m benchmarks.fingerprints --compare before.json    # after it: names each result that differs
    python -m benchmarks.fingerprints --only iris,digits       # without the large data sets

Hashes hold for one machine with one set of library versions: other processors round differently. Needs the data sets
(GRASPEL_DATA or the cache) except for iris, wine and digits, and openTSNE.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets

from graspel import (
    GRASPEL,
    Graph,
    GraspelClustering,
    GraspelEmbedding,
    GraspelRecovery,
    GraspelTSNE,
    linalg,
)
from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from reproduction import datasets

N_CLUSTERS = {"iris": 3, "wine": 3, "digits": 10, "coil20": 20, "pendigits": 10, "usps": 10, "mnist": 10}
IN_DEPTH = ("iris", "digits", "usps")  # data sets on which every option of the learner is tried
VARIANTS: list[dict[str, Any]] = [
    {"initial": "unn", "n_neighbors": 5},
    {"initial": "mst"},
    {"candidates": "clusters"},
    {"candidates": "multilevel"},
    {"stability": "eigenvalues"},
    {"metric": "cosine"},
    {"tol": 10},
    {"n_neighbors": 5},
    {"weights": "refined"},
]

Results = Iterator[tuple[str, str]]


def hash_arrays(*arrays: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of some arrays, their types and shapes included."""
    digest = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def hash_graph(graph: Graph) -> str:
    """The hash of all columns of a graph."""
    return hash_arrays(graph.heads, graph.tails, graph.weights, graph.origin, graph.round, graph.eta, graph.gradient)


def load_points(name: str) -> Any:
    """The points of a data set."""
    if name in ("iris", "wine"):
        return getattr(sklearn.datasets, f"load_{name}")().data
    return datasets.load(name).X


def of_data_set(name: str) -> Results:
    """Graph, certificate, clusters; in depth also every variant of the learner and both embeddings."""
    X = load_points(name)
    model = GRASPEL(random_state=0).fit(X)
    certificate = model.certificate_
    yield "graph", hash_graph(model.graph_)
    yield (
        "certificate",
        hash_arrays(
            np.array(
                [
                    certificate.objective,
                    certificate.lambda_2,
                    certificate.resistance_correlation,
                    certificate.neighbor_recall,
                ]
            )
        ),
    )
    clusterer = GraspelClustering(N_CLUSTERS[name], random_state=0).fit(X)
    yield "labels", hash_arrays(clusterer.labels_)
    yield "memberships", hash_arrays(clusterer.memberships_)
    yield "predict", hash_arrays(clusterer.predict(X[:200]))
    if name not in IN_DEPTH:
        return
    for variant in VARIANTS:
        if not (name == "usps" and "weights" in variant):  # too slow there
            yield str(variant), hash_graph(GRASPEL(random_state=1, **variant).fit(X).graph_)
    tsne = GraspelTSNE(random_state=0).fit(X)
    yield "tsne", hash_arrays(tsne.embedding_)
    yield "tsne of new points", hash_arrays(tsne.transform(X[:50]))
    yield "spectral", hash_arrays(GraspelEmbedding(2, random_state=0).fit(X).embedding_)
    yield "auto", str(GraspelClustering(random_state=0).fit(X).n_clusters_)


def of_signals() -> Results:
    """Recovered graphs."""
    for rows, columns, n_signals in ((4, 5, 500), (15, 15, 100)):
        X = smooth_signals(grid_graph(rows, columns), n_signals=n_signals, noise=0.5, random_state=0)
        yield f"grid of {rows} x {columns}", hash_graph(GraspelRecovery(random_state=0).fit(X).graph_)


def of_kernels() -> Results:
    """Every kernel of the Laplacian toolbox, on a grid."""
    grid = grid_graph(60, 60)
    yield "eigenvalues", hash_arrays(linalg.smallest_eigenpairs(grid, 5, random_state=0).values)
    pairs = [(0, 100), (5, 3000)]
    yield "resistances", hash_arrays(linalg.effective_resistance(grid, pairs, random_state=0).values)
    yield "sparsifier", hash_graph(linalg.sparsify(grid, density=1.2, random_state=0).graph)
    yield "coarsening", hash_arrays(linalg.coarsen(grid, 5, random_state=0).groups)
    yield "log-determinant", hash_arrays(np.array(linalg.logdet(grid.adjacency, 1e-6, random_state=0)))


SECTIONS: dict[str, Callable[[], Results]] = {
    **{name: (lambda name=name: of_data_set(name)) for name in N_CLUSTERS},  # type: ignore[misc]
    "signals": of_signals,
    "kernels": of_kernels,
}


def main() -> None:
    """Print the fingerprints of the sections asked for, and compare them with earlier ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, with commas: " + ", ".join(SECTIONS))
    parser.add_argument("--output", type=Path, help="write the fingerprints to this .json file")
    parser.add_argument("--compare", type=Path, help="a .json file of earlier fingerprints")
    arguments = parser.parse_args()
    earlier = json.loads(arguments.compare.read_text()) if arguments.compare else {}
    found: dict[str, str] = {}
    warnings.simplefilter("ignore")
    for section in arguments.only.split(","):
        if section not in SECTIONS:
            parser.error(f"no section {section!r}; there are {', '.join(SECTIONS)}")
        for result, fingerprint in SECTIONS[section]():
            key = f"{section}: {result}"
            found[key] = fingerprint
            verdict = "" if key not in earlier else "  same" if earlier[key] == fingerprint else "  DIFFERS"
            print(f"{fingerprint:16}  {key}{verdict}", flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    if earlier:
        compared = [key for key in found if key in earlier]
        differing = [key for key in compared if found[key] != earlier[key]]
        print(f"{len(compared)} compared, {len(differing)} differ")
        raise SystemExit(1 if differing else 0)


if __name__ == "__main__":
    main()
