"""Is a model stable? Scores of points and edges from the graphs of its inputs and its outputs (SPADE)."""

from __future__ import annotations

from graspel.stability.scores import StabilityScores, stability_scores

__all__ = ["StabilityScores", "stability_scores"]
