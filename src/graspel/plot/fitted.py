"""What a picture needs from fitted objects, whichever of them is given."""

from __future__ import annotations

from typing import Any

from graspel.graph import Graph

__all__ = ["graph_of", "labels_of", "learner_of"]


def graph_of(fitted: Any) -> Graph:
    """The graph of a fitted model, or the graph itself."""
    if isinstance(fitted, Graph):
        return fitted
    graph = getattr(fitted, "graph_", None)
    if not isinstance(graph, Graph):
        raise TypeError(f"{_name(fitted)}: must be a Graph, or a fitted model with a graph_; call fit first.")
    return graph


def learner_of(fitted: Any) -> Any:
    """The fitted GRASPEL of a model, or itself."""
    learner = getattr(fitted, "learner_", fitted)
    if not hasattr(learner, "history_"):
        raise TypeError(f"{_name(fitted)}: must be a fitted model that knows its rounds (history_); call fit first.")
    return learner


def labels_of(fitted: Any, labels: Any) -> Any:
    """The labels given, or else the clusters of a clusterer, or else None."""
    return getattr(fitted, "labels_", None) if labels is None else labels


def _name(fitted: Any) -> str:
    return f"a {type(fitted).__name__}"
