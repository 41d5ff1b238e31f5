"""The house rules of CONTRIBUTING.md that a program can check: sizes of functions and files, arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "graspel"
FILES = sorted(path for path in SOURCE.rglob("*.py") if "kernels" not in path.parts)
LONGEST_FUNCTION, LONGEST_FILE, MOST_ARGUMENTS = 60, 400, 7  # lines without the docstring, lines, number
# Where a limit is passed, with the reason.
LONG_FILES = {
    "estimators/learner.py": "one class, whose parameters and methods are documented with examples",
}
LONG_FUNCTIONS = {
    "linalg/lobpcg.py": "one iteration, whose state is many small matrices",
    "optimum/solver.py": "one loop, the driver of both problems",
}
MANY_ARGUMENTS = {
    "findings/audit.py": "what an audit can look at, by keyword",
    "graph/edges.py": "the columns of an edge list",
    "linalg/eigen.py": "a public function, its options by keyword",
    "linalg/lobpcg.py": "one iteration, whose state is many small matrices",
    "report/inputs.py": "what a page can show, by keyword",
    "report/writing.py": "what a page can show, by keyword",
}
OPTIONS = (
    "cli/classify.py",
    "cli/audit.py",
    "cli/cluster.py",
    "cli/embed.py",
    "cli/learn.py",
    "cli/recover.py",
    "cli/report.py",
    "cli/plan.py",
)


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))


def count_lines(function: ast.FunctionDef) -> int:
    docstring = 0
    if ast.get_docstring(function) is not None:
        docstring = (function.body[0].end_lineno or 0) - function.body[0].lineno + 1
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def count_arguments(function: ast.FunctionDef) -> int:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([argument for argument in arguments if argument.arg not in ("self", "cls")])


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_are_short(path):
    is_long = len(path.read_text().splitlines()) > LONGEST_FILE
    assert is_long == (name_of(path) in LONG_FILES)
    long = [function.name for function in functions(path) if count_lines(function) > LONGEST_FUNCTION]
    assert bool(long) == (name_of(path) in LONG_FUNCTIONS), long


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_functions_have_few_arguments(path):
    """Constructors hold parameters, and the functions of commands options: they may have more."""
    if name_of(path) in OPTIONS:
        return
    crowded = [f.name for f in functions(path) if f.name != "__init__" and count_arguments(f) > MOST_ARGUMENTS]
    assert bool(crowded) == (name_of(path) in MANY_ARGUMENTS), crowded


def test_estimators_have_at_most_fifteen_parameters():
    import graspel

    estimators = [getattr(graspel, name) for name in graspel.__all__ if name.upper().startswith("GRASPEL")]
    assert len(estimators) >= 7
    assert {e.__name__: len(e._get_param_names()) for e in estimators if len(e._get_param_names()) > 15} == {}


def test_every_parameter_of_an_estimator_is_described_once():
    """Those that estimators share stand in the docstring of their base, and in what help() shows."""
    import graspel
    from graspel.runtime.docstrings import ENTRY, find_section

    estimators = [getattr(graspel, name) for name in graspel.__all__ if name.upper().startswith("GRASPEL")]
    for estimator in estimators:
        entries = ENTRY.finditer(find_section(getdoc(estimator) or "", "Parameters"))
        described = [name for entry in entries for name in entry[1].split(", ")]
        assert sorted(described) == sorted(estimator._get_param_names()), estimator.__name__
    texts = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "estimators").glob("*.py"))
    assert texts.count("It also seeds a learner that has no seed of its own.") == 1


# Where two public functions or classes of one name are right, with the reason.
SAME_NAMES: dict[str, str] = {"audit": "the command is the function, for a file"}


def test_a_public_name_means_one_thing():
    """Two rooms do not give one name to two functions, classes or types; a reader meets both in one session."""
    places: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            for name in defined_names(node):
                places.setdefault(name, []).append(name_of(path))
    twice = {name for name, where in places.items() if len(where) > 1}
    assert {name: places[name] for name in twice ^ set(SAME_NAMES)} == {}


def defined_names(node: ast.stmt) -> list[str]:
    """The public functions and classes of a module, and its types: assigned names in CamelCase."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        names = [node.name]
    elif isinstance(node, ast.Assign):
        names = [target.id for target in node.targets if isinstance(target, ast.Name) and not target.id.isupper()]
    else:
        names = []
    return [name for name in names if not name.startswith("_")]
