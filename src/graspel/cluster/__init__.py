"""Spectral clustering, on a graph learned from points or on any given graph."""

from __future__ import annotations

from graspel.cluster.cluster_count import ClusterCount, Layer
from graspel.cluster.clustering import ASSIGNMENTS, Clustering, cluster_graph, find_eigengap
from graspel.learning.eigengap import Eigengap, eigengap

__all__ = [
    "ASSIGNMENTS",
    "ClusterCount",
    "Clustering",
    "Eigengap",
    "Layer",
    "cluster_graph",
    "eigengap",
    "find_eigengap",
]
