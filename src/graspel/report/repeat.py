"""How to get the same graph again: the settings and versions of the run, and a few lines of Python."""

from __future__ import annotations

import platform
from importlib.metadata import version
from inspect import signature
from typing import Any

from graspel.plot.fitted import get_learner
from graspel.plot.palette import shorten

__all__ = ["list_settings", "write_code"]

LIBRARIES = ("graspel", "numpy", "scipy", "scikit-learn")
LONGEST_VALUE = 120  # characters of a value on the page; longer ones are cut


def list_settings(model: Any, source: str | None) -> list[tuple[str, str]]:
    """Names and values of all that the graph depends on: data, seed, parameters, versions."""
    learner = get_learner(model)
    rows = [("data", shorten(source, LONGEST_VALUE) if source else "given in Python")]
    rows.append(("shape", f"{learner.certificate_.n_nodes:,} points, {learner.n_features_in_:,} features"))
    if learner.random_state is None:
        rows.append(("seed", "none was set: another run may differ a little; set random_state to repeat it exactly"))
    rows += [(name, _format_value(getattr(learner, name))) for name in signature(type(learner)).parameters]
    rows += [(f"{library} version", version(library)) for library in LIBRARIES]
    rows.append(("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"))
    return rows


def write_code(model: Any, clusterer: Any = None) -> str:
    """Python code that fits the model to X again, and the clusterer if it is another one."""
    learner = get_learner(model)
    others = [model] if model is not learner else []
    if clusterer is not model and hasattr(clusterer, "learner_"):
        others.append(clusterer)
    needs_learner = model is learner or any(one.learner is not None for one in others)
    names = [*(["GRASPEL"] if needs_learner else []), *sorted({type(one).__name__ for one in others})]
    lines = [f"from graspel import {', '.join(names)}", ""]
    if model is learner:
        lines.append(f"learner = {_format_call(learner)}.fit(X)")
    lines += [f"{'model' if one is model else 'clusterer'} = {_format_owner(one)}.fit(X)" for one in others]
    return "\n".join(lines)


def _format_owner(estimator: Any) -> str:
    """The call of an estimator that has a learner, with the learner if one was given."""
    changed = {name: value for name, value in _changed_parameters(estimator).items() if name != "learner"}
    arguments = [f"{name}={_format_value(value)}" for name, value in changed.items()]
    if estimator.learner is not None:
        arguments.append(f"learner={_format_call(estimator.learner)}")
    return f"{type(estimator).__name__}({', '.join(arguments)})"


def _format_call(estimator: Any) -> str:
    arguments = ", ".join(f"{name}={_format_value(value)}" for name, value in _changed_parameters(estimator).items())
    return f"{type(estimator).__name__}({arguments})"


def _changed_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters whose value is not the default."""
    parameters = signature(type(estimator)).parameters.items()
    values = {name: getattr(estimator, name) for name, _ in parameters}
    return {name: values[name] for name, parameter in parameters if not _is_equal(values[name], parameter.default)}


def _is_equal(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float | bool) and value == default)


def _format_value(value: Any) -> str:
    return shorten(repr(value), LONGEST_VALUE)
