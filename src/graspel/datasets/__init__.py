"""Data sets to learn from: the paper's four, the digits of scikit-learn, and signals drawn on a graph."""

from graspel.datasets.loading import Dataset, load, mnist_subset, names
from graspel.datasets.signals import smooth_signals

__all__ = ["Dataset", "load", "mnist_subset", "names", "smooth_signals"]
