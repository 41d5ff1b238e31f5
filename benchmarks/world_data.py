"""Data of the kind that people have: sentence embeddings, texts, and points like embeddings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

CLUSTERS = 200  # of the synthetic embeddings
DIMENSION = 24  # of each cluster, about the intrinsic dimension of sentence embeddings


def debian() -> Any:
    """The arrays X, y and text of debian.npz in the folder GRASPEL_DATA."""
    path = Path(os.environ.get("GRASPEL_DATA", ".")) / "debian.npz"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: set GRASPEL_DATA to the folder that holds debian.npz.")
    return np.load(path, allow_pickle=False)


def load_debian() -> np.ndarray:
    """Sentence embeddings of 63,620 descriptions of packages, 384 columns."""
    return debian()["X"].astype(np.float32)


def load_texts(n: int | None) -> sp.csr_array:
    """TF-IDF of n of the texts, chosen at random; None for all."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = debian()["text"]
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
