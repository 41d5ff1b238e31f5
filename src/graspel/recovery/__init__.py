"""Graph recovery: find the graph on which given signals are smooth."""

from __future__ import annotations

from graspel.recovery.signals import estimate_noise

__all__ = ["estimate_noise"]
