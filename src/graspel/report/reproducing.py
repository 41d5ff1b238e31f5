"""How to get the same graph again: parameters, data, versions, and the lines of Python."""

from __future__ import annotations

import platform
from importlib.metadata import version
from inspect import signature
from typing import Any

from graspel.plot.fitted import learner_of
from graspel.plot.palette import shortened

__all__ = ["how_to_reproduce"]

LIBRARIES = ("graspel", "numpy", "scipy", "scikit-learn")
LONGEST_VALUE = 120


def how_to_reproduce(
    model: Any, source: str | None, n_clusters: int | None = None
) -> tuple[list[tuple[str, str]], str]:
    """Rows of name and value, and the Python code; `n_clusters` where the learner's graph was clustered afterwards."""
    learner = learner_of(model)
    rows = [("data", shortened(source, LONGEST_VALUE) if source else "given in Python")]
    rows.append(("shape", f"{learner.certificate_.n_nodes:,} points, {learner.n_features_in_:,} features"))
    if learner.random_state is None:
        rows.append(("seed", "none was set: another run may differ a little; set random_state to repeat it exactly"))
    rows += [(name, _value(getattr(learner, name))) for name in signature(type(learner)).parameters]
    rows += [(f"{library} version", version(library)) for library in LIBRARIES]
    rows.append(("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"))
    return rows, _code(model, learner, n_clusters)


def _code(model: Any, learner: Any, n_clusters: int | None) -> str:
    names = ["GRASPEL"] if model is learner else ["GRASPEL", type(model).__name__]
    lines = [f"from graspel import {', '.join(names)}", "", f"learner = {_call(learner)}"]
    if model is learner and n_clusters is None:
        return "\n".join([*lines, "learner.fit(X)"])
    if model is learner:
        lines[0] += ", cluster_graph"
        seed = _value(learner.random_state)
        clustered = f"labels = cluster_graph(learner.fit(X).graph_, {n_clusters}, random_state={seed}).labels"
        return "\n".join([*lines, clustered])
    more = {name: value for name, value in _changed(model).items() if name != "learner"}
    given = ", ".join([*(f"{name}={_value(value)}" for name, value in more.items()), "learner=learner"])
    return "\n".join([*lines, f"model = {type(model).__name__}({given}).fit(X)"])


def _call(estimator: Any) -> str:
    given = ", ".join(f"{name}={_value(value)}" for name, value in _changed(estimator).items())
    return f"{type(estimator).__name__}({given})"


def _changed(estimator: Any) -> dict[str, Any]:
    """The parameters that are not at their default."""
    parameters = signature(type(estimator)).parameters.items()
    given = {name: getattr(estimator, name) for name, _ in parameters}
    return {name: given[name] for name, parameter in parameters if not _same(given[name], parameter.default)}


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float | bool) and value == default)


def _value(value: Any) -> str:
    return shortened(repr(value), LONGEST_VALUE)
