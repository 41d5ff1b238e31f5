"""Graph recovery: find the graph on which given signals are smooth."""

from __future__ import annotations

from graspel.recovery.estimator import GraphRecovery
from graspel.recovery.noise import estimate_noise

__all__ = ["GraphRecovery", "estimate_noise"]
