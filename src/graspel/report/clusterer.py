"""The clusterer of a report: it clusters with the settings of the learner that say what near means, and no rounds."""

from __future__ import annotations

from inspect import signature
from typing import Any

from graspel.estimators.clustering import GraspelClustering
from graspel.estimators.learner import GRASPEL

__all__ = ["SETTINGS", "make_clusterer", "settings_of"]

SETTINGS = ("n_neighbors", "metric", "initial")  # what clusters depend on; not the rounds


def make_clusterer(n_clusters: Any, settings: dict[str, Any], **run: Any) -> GraspelClustering:
    """A clusterer with these settings of a graph, and with seed and threads in `run`.

    Settings that the clusterer has itself are given to it, so that they hold for all graphs that it makes; other
    settings need a learner. Critical edges are never added: they connect clusters.

    Examples
    --------
    >>> make_clusterer(3, {}, random_state=0)
    GraspelClustering(n_clusters=3, random_state=0)
    """
    if set(settings) <= set(signature(GraspelClustering).parameters):
        return GraspelClustering(n_clusters, **settings, **run)
    return GraspelClustering(n_clusters, learner=GRASPEL(max_iter=0, **settings), **run)


def settings_of(learner: GRASPEL) -> dict[str, Any]:
    """The settings of a learner that differ from the defaults.

    Examples
    --------
    >>> settings_of(GRASPEL(3, tol=10.0))
    {'n_neighbors': 3}
    """
    parameters = signature(type(learner)).parameters
    values = {name: getattr(learner, name) for name in SETTINGS if name in parameters}
    defaults = {name: parameters[name].default for name in values}
    return {name: value for name, value in values.items() if not _is_equal(value, defaults[name])}


def _is_equal(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | bool) and value == default)
