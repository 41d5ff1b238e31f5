"""Data sets: the four of the paper, the digits of scikit-learn, and random signals on a graph."""

from graspel.datasets.loading import Dataset, load, mnist_subset, names
from graspel.datasets.signals import smooth_signals

__all__ = ["Dataset", "load", "mnist_subset", "names", "smooth_signals"]
