"""Scores: clusters against classes, embeddings against data, and recovered graphs against the true graph."""

from __future__ import annotations

from graspel.metrics.clustering import clustering_accuracy
from graspel.metrics.embedding import (
    NeighborsKept,
    label_accuracy,
    neighbors_kept,
)
from graspel.metrics.recovery import EdgeScores, edge_scores

__all__ = [
    "EdgeScores",
    "NeighborsKept",
    "clustering_accuracy",
    "edge_scores",
    "label_accuracy",
    "neighbors_kept",
]
