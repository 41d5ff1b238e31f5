"""A case: one call with its input, which can be run, judged, shrunk and printed."""

from __future__ import annotations

import contextlib
import io
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import graspel
from fuzzing.processes import call_elsewhere

Run = Callable[[Any, dict[str, Any]], int | None]
OURS = str(Path(graspel.__file__).parent)
VALIDATION = (OURS, str(Path("sklearn", "utils")), str(Path("sklearn", "base.py")))  # where an input may be refused
SENTENCES = (ValueError, TypeError, OSError, ImportError, MemoryError)  # what a refused input may raise
LONGEST_MESSAGE = 600  # characters of one sentence


class WrongResult(AssertionError):
    """A call returned something that a check refutes."""


def require(condition: Any, problem: str) -> None:
    """Raise `WrongResult` unless the condition holds."""
    if not bool(condition):
        raise WrongResult(problem)


@dataclass(frozen=True)
class Case:
    """One call.

    Attributes
    ----------
    target : str, what is called
    data : the input that is shrunk: a matrix, or the bytes of a file
    settings : dict, parameters of the call
    run : function of (data, settings) that makes the call and checks its result; it returns the number of rounds that
        the call made, which depends on the data by design, or None
    code : function of (expression of the data, settings) that prints the call as Python
    ordinary : function of data that returns ordinary data of the same shape, for the usual time
    isolated : bool, make the call in another process, since a signal may end it; `run` is then a function of a module
    """

    target: str
    data: Any
    settings: dict[str, Any]
    run: Run
    code: Callable[[str, dict[str, Any]], str]
    ordinary: Callable[[Any], Any] | None = None
    isolated: bool = False


def find_fault(case: Case) -> str | None:
    """Make the call; None if it is well, else what is wrong in one line."""
    return make_call(case)[0]


def make_call(case: Case) -> tuple[str | None, int]:
    """Make the call; return what is wrong, None if nothing, and the number of rounds (1 where there are none)."""
    if not case.isolated:
        return _run(case.run, case.data, case.settings)
    try:
        return call_elsewhere(_run, case.run, case.data, case.settings)
    except ChildProcessError as error:
        return str(error), 1


def _run(run: Run, data: Any, settings: dict[str, Any]) -> tuple[str | None, int]:
    printed = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", category=RuntimeWarning, module="graspel")
            return None, run(data, settings) or 1
    except WrongResult as error:
        return f"wrong result: {error}", 1
    except SENTENCES as error:
        return _fault_of_message(error), 1
    except Exception as error:
        return f"error from the inside: {_describe(error)}", 1


def _fault_of_message(error: Exception) -> str | None:
    """None where an error is one sentence about the input, raised by a check."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, np.linalg.LinAlgError) or not any(place in frames[-1].filename for place in VALIDATION):
        return f"error from the inside: {_describe(error)}"
    message = str(error)
    if not message.strip() or len(message) > LONGEST_MESSAGE:
        return f"message of {len(message)} characters: {message[:80]!r}"
    return None


def _describe(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:150]!r} in {Path(last.filename).name}:{last.lineno}"
