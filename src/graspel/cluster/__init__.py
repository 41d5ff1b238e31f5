"""Spectral clustering on learned graphs, or on graphs that are already there."""

from __future__ import annotations

from graspel.cluster.eigengap import Eigengap, eigengap
from graspel.cluster.estimator import GraspelClustering
from graspel.cluster.graph_clusters import ASSIGNMENTS, Clustering, cluster_graph

__all__ = ["ASSIGNMENTS", "Clustering", "Eigengap", "GraspelClustering", "cluster_graph", "eigengap"]
