"""Measures of a result against the truth."""

from __future__ import annotations

from graspel.metrics.clustering import adjusted_rand_index, clustering_accuracy, normalized_mutual_information
from graspel.metrics.recovery import EdgeScores, edge_scores, oracle_threshold

__all__ = [
    "EdgeScores",
    "adjusted_rand_index",
    "clustering_accuracy",
    "edge_scores",
    "normalized_mutual_information",
    "oracle_threshold",
]
