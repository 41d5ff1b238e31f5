"""Estimators from the command line: options, ``--set NAME=VALUE`` and ``--parameters``.

What a parameter means is said once, in the docstring of its estimator. The help of an option and the list of
``--parameters`` are read from there; the source is parsed, not imported, because numpy and scikit-learn take a second
to load.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple

from graspel.runtime.docstrings import find_section, inherit_entries

ESTIMATORS = Path(__file__).parent.parent / "estimators"
NOT_HERE = ("learner", "verbose", "callback")  # parameters for Python: an object, a function, and printed progress
ONE_LINE = 60  # characters of the help of an option
LEARNER = "learner__"  # prefix of the parameters of an estimator's learner, as in scikit-learn
WORDS = {"true": True, "false": False, "none": None}


class Described(NamedTuple):
    """A parameter in a docstring: what stands after its name, and the first paragraph."""

    kind: str
    text: str

    @property
    def sentence(self) -> str:
        """The first sentence without its full stop, or where it is long the beginning of it."""
        sentence = re.split(r"\.(?:\s|$)", self.text)[0]
        return re.split(r"[,;] ", sentence)[0] if len(sentence) > ONE_LINE else sentence

    @property
    def default(self) -> str | None:
        """The default, without quotes."""
        found = re.search(r"default=(\S+)$", self.kind)
        return found[1].strip('"') if found else None


@cache
def _read_docstring(estimator: str) -> dict[str, Described]:
    found, base = _find_class(estimator), _find_class("LearnerEstimator")
    constructor = next(node for node in found.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    names = {argument.arg for argument in constructor.args.args + constructor.args.kwonlyargs}
    inherited = (ast.get_docstring(base) or "") if "learner" in names else ""
    section = find_section(inherit_entries(ast.get_docstring(found) or "", inherited, names), "Parameters")
    entries = re.findall(r"^(\w+) : (.*)\n((?:[ \n].*\n?)*)", section, re.M)
    return {n: Described(kind, " ".join(cleandoc(text).partition("\n\n")[0].split())) for n, kind, text in entries}


@cache
def _find_class(name: str) -> ast.ClassDef:
    sources = (path.read_text(encoding="utf-8") for path in sorted(ESTIMATORS.glob("*.py")))
    tree = ast.parse(next(source for source in sources if f"\nclass {name}(" in source))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def describe_parameters(estimator: str) -> dict[str, Described]:
    """The parameters that the docstring of an estimator describes and that the command line can set, in its order.

    >>> describe_parameters("GRASPEL")["window"].default
    '0.05'
    """
    return {name: described for name, described in _read_docstring(estimator).items() if name not in NOT_HERE}


def has_learner(estimator: str) -> bool:
    """Whether an estimator learns its graph by a learner, whose parameters can be set too."""
    return "learner" in _read_docstring(estimator)


def parse_value(text: str) -> Any:
    """The value that a text stands for: a number, true, false, none, or the text itself.

    >>> [parse_value(text) for text in ("3", "1e-3", "True", "none", "clusters")]
    [3, 0.001, True, None, 'clusters']
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def read_settings(estimator: str, settings: Iterable[str], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator: the values of its options, without None, and those of ``--set``.

    >>> read_settings("GRASPEL", ["window=0.1"], {"metric": "cosine", "n_jobs": None})
    {'metric': 'cosine', 'window': 0.1}
    """
    parameters = {name: value for name, value in chosen.items() if value is not None}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals):
            raise ValueError(f"--set {setting}: must be NAME=VALUE; --parameters lists the names.")
        _check_name(estimator, name, setting)
        if name in chosen:
            raise ValueError(f"--set {setting}: this parameter has an option of its own; see --help.")
        if name in parameters:
            raise ValueError(f"--set {setting}: {name} is set twice; leave one out.")
        parameters[name] = parse_value(value)
    find_initial_file(parameters)
    return parameters


def _check_name(estimator: str, name: str, setting: str) -> None:
    """Raise, with the names that exist, the nearest first, unless this is a parameter that can be set."""
    owner, last = estimator, name
    if name.startswith(LEARNER) and has_learner(estimator):
        owner, last = "GRASPEL", name.removeprefix(LEARNER)
    known = describe_parameters(owner)
    if last in known:
        return
    nearest = ", ".join(sorted(known, key=lambda other: -SequenceMatcher(None, last, other).ratio()))
    its_learner = has_learner(owner) and last in describe_parameters("GRASPEL")
    hint = f"; its learner has it: --set {LEARNER}{setting}" if its_learner else ""
    raise ValueError(f"--set {setting}: {owner} has no parameter {last!r}; it has {nearest}{hint}.")


def find_initial_file(parameters: Mapping[str, Any]) -> Path | None:
    """The graph file that `initial` names; None if it names a method, or nothing.

    >>> find_initial_file({"initial": "no/such/file.npz"})
    Traceback (most recent call last):
    ...
    ValueError: initial=no/such/file.npz: is none of knn, mutual, local-scale, unn, mst, nor the path of ...
    """
    name, initial = next(((n, v) for n, v in parameters.items() if n.endswith("initial")), ("", None))
    if not isinstance(initial, str):
        return None
    from graspel.learning.initial import INITIAL

    if initial in INITIAL:
        return None
    if not Path(initial).exists():
        known = ", ".join(INITIAL)
        raise ValueError(f"{name}={initial}: is none of {known}, nor the path of a graph file that exists.")
    return Path(initial)


def build_estimator(estimator: str, parameters: Mapping[str, Any]) -> Any:
    """An estimator with these parameters, those of its learner included; a start graph is read from its file."""
    import graspel

    path = find_initial_file(parameters)
    if path is not None:
        graph = graspel.Graph.read(path)
        parameters = {name: graph if name.endswith("initial") else value for name, value in parameters.items()}
    return getattr(graspel, estimator)().set_params(**parameters)
