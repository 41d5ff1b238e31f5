"""The graph, the learner and the labels of a fitted model of any kind."""

from __future__ import annotations

from typing import Any

from graspel.graph import Graph


def get_graph(fitted: Any) -> Graph:
    """The learned graph of a fitted model, or the graph itself."""
    if isinstance(fitted, Graph):
        return fitted
    graph = getattr(getattr(fitted, "learner_", fitted), "graph_", None)
    if not isinstance(graph, Graph):
        raise TypeError(f"{_name(fitted)}: must be a Graph, or a fitted model with a graph_; call fit first.")
    return graph


def get_learner(fitted: Any) -> Any:
    """The fitted GRASPEL of a model, or the model itself if it is one."""
    learner = getattr(fitted, "learner_", fitted)
    if not hasattr(learner, "history_"):
        raise TypeError(f"{_name(fitted)}: must be a fitted model with a history_ of its rounds; call fit first.")
    return learner


def get_labels(fitted: Any, labels: Any) -> Any:
    """The given labels; without them the clusters of a clusterer; None if there are none."""
    return getattr(fitted, "labels_", None) if labels is None else labels


def _name(fitted: Any) -> str:
    return f"a {type(fitted).__name__}"
