"""Scores: clusters against classes, embeddings against data, and recovered graphs against the true graph."""

from __future__ import annotations

from graspel.metrics.clustering import clustering_accuracy
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
    "centroid_correlation",
    "clustering_accuracy",
    "edge_scores",
    "label_accuracy",
    "neighbors_kept",
    "oracle_threshold",
    "triplet_accuracy",
]
