"""Scores: clusters against classes, embeddings against data, and recovered graphs against the true graph."""

from __future__ import annotations

from graspel.metrics.clustering import adjusted_rand_index, clustering_accuracy, normalized_mutual_information
from graspel.metrics.embedding import (
    NeighborsKept,
    centroid_correlation,
    label_accuracy,
    neighbors_kept,
    triplet_accuracy,
)
from graspel.metrics.recovery import EdgeScores, edge_scores, oracle_threshold

__all__ = [
    "EdgeScores",
    "NeighborsKept",
    "adjusted_rand_index",
    "centroid_correlation",
    "clustering_accuracy",
    "edge_scores",
    "label_accuracy",
    "neighbors_kept",
    "normalized_mutual_information",
    "oracle_threshold",
    "triplet_accuracy",
]
