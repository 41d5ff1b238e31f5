"""The data sets of the paper's experiments, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graspel import datasets

MNIST_SUBSET = "mnist-subset"

TITLES = {
    "coil20": "COIL-20",
    "pendigits": "PenDigits",
    "usps": "USPS",
    "mnist": "MNIST",
    MNIST_SUBSET: "MNIST subset",
}


def center_rows(X: Any) -> NDArray[np.float64]:
    """X with the mean of each row subtracted, as in the paper's runs."""
    X = np.asarray(X, dtype=np.float64)
    return X - X.mean(axis=1, keepdims=True)


def load_data(name: str) -> datasets.Dataset:
    """Load a data set, not scaled; "mnist-subset" is every second image of the digits 0 to 6."""
    return datasets.mnist_subset() if name == MNIST_SUBSET else datasets.load(name)
