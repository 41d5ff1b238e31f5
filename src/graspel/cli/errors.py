"""Errors of the command line: one sentence on stderr, an exit code, and no traceback.

====  ===========================================================================
code  meaning
====  ===========================================================================
0     done
1     an unexpected error, a bug; ``GRASPEL_DEBUG=1`` shows the traceback
2     the input, an option or the output cannot be used; the sentence says why
130   stopped by Ctrl-C
143   stopped by a termination signal
====  ===========================================================================
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from graspel.runtime.shown import escape_controls

DEBUG_VARIABLE = "GRASPEL_DEBUG"

# Errors caused by a file, an option or the machine of the user; any other error is a bug of graspel.
USER_ERRORS = (ValueError, TypeError, OSError, MemoryError, ImportError, EOFError, OverflowError)


_ADVICE = {
    errno.ENOENT: "does not exist; check the spelling and the folder",
    errno.EACCES: "may not be opened (permission denied); change its permissions or choose another path",
    errno.EPERM: "may not be opened (not permitted); change its permissions or choose another path",
    errno.EISDIR: "is a folder; give the path of a file",
    errno.ENOTDIR: "is not a folder; check the path",
    errno.EEXIST: "is a file, but a folder of this name is needed; move it or choose another name",
    errno.ENOSPC: "cannot be written: the disk is full; free some space or choose another folder",
    errno.EDQUOT: "cannot be written: your disk quota is used up; free some space or choose another folder",
    errno.EROFS: "cannot be written: the file system is read-only; choose another folder",
    errno.ENAMETOOLONG: "is too long a name; choose a shorter one",
    errno.ENOMEM: "cannot be read: there is not enough memory; use a smaller file, or a machine with more memory",
    errno.ELOOP: "is a link that leads back to itself; choose another path",
}


@contextmanager
def friendly_errors(*, quiet: bool = False) -> Iterator[list[str]]:
    """Turn an exception inside the ``with`` block into a sentence on stderr and an exit code, a warning into a line.

    Parameters
    ----------
    quiet : bool
        Do not print warnings.

    Yields
    ------
    list of str
        The block appends the path of each file that it has written; the message after Ctrl-C names them.
    """
    written: list[str] = []
    stopped_by: list[int] = []
    with _stop_signals(stopped_by), _plain_warnings(quiet):
        try:
            yield written
        except BrokenPipeError:
            _exit_silently()
        except SystemExit as error:
            if isinstance(error.__context__, BrokenPipeError):  # rich exits with 1
                _exit_silently()
            raise
        except (KeyboardInterrupt, Exception) as error:
            # A library in C may turn Ctrl-C into another exception, so the signal decides.
            if isinstance(error, KeyboardInterrupt) or stopped_by:
                _stop(written, stopped_by[-1] if stopped_by else signal.SIGINT)
            _fail(error)


def explain(error: BaseException) -> str:
    """Describe `error` in one line that can be printed."""
    return escape_controls(_describe(error))


def _describe(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        if error.strerror != os.strerror(error.errno):
            return " ".join(error.strerror.split())  # a message of graspel, not of the operating system
        what = _ADVICE.get(error.errno, f"cannot be used: {error.strerror.lower()}")
        return f"{'the file' if error.filename is None else os.fsdecode(error.filename)} {what}."
    text = " ".join(str(error).split())
    if _is_lack_of_memory(error):
        detail = f" ({text.rstrip('.')})" if text else ""
        return f"there is not enough memory{detail}; use fewer points or features, or a machine with more memory."
    if isinstance(error, ImportError) and error.name:
        return f"{text.rstrip('.')}; install the package {error.name.partition('.')[0]!r} for this."
    return text or type(error).__name__


def _fail(error: BaseException) -> NoReturn:
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error)
    if hasattr(error, "format_message"):  # a usage error of the option parser
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "graspel"
        message = " ".join(error.format_message().split()).rstrip(".")
        if message:  # without one, the help has been printed
            print(f"Error: {escape_controls(message)}; see '{command} --help'.", file=sys.stderr)
        raise SystemExit(2)
    if _is_lack_of_memory(error) or (isinstance(error, USER_ERRORS) and not _is_import_of_graspel(error)):
        print(f"Error: {explain(error)}", file=sys.stderr)
        raise SystemExit(2)
    print(
        f"Error: an unexpected error occurred ({type(error).__name__}: {explain(error)}); "
        f"run again with {DEBUG_VARIABLE}=1 to see the traceback, and please report it.",
        file=sys.stderr,
    )
    raise SystemExit(1)


def _is_lack_of_memory(error: BaseException) -> bool:
    """Whether memory was short: for an array, for a thread, or for loading a library."""
    if isinstance(error, RuntimeError):
        return "can't start new thread" in str(error)
    if isinstance(error, ImportError):
        return "failed to map segment" in str(error) or "cannot allocate memory" in str(error).lower()
    return isinstance(error, MemoryError)


def _is_import_of_graspel(error: BaseException) -> bool:
    """Whether a module of graspel itself is missing, which is a bug."""
    return isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "graspel"


def _stop(written: list[str], signal_number: int) -> NoReturn:
    left = f"{escape_controls(', '.join(written))} had been written" if written else "nothing was written"
    print(f"stopped; {left}", file=sys.stderr)
    raise SystemExit(128 + signal_number)


def _exit_silently() -> NoReturn:
    """Exit without a message: the program that reads the output (``head``, ``less``) has ended."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(141)


@contextmanager
def _plain_warnings(quiet: bool) -> Iterator[None]:
    """Show a warning as one line, without file name and line number."""

    def show(message: Warning | str, *_args: Any, **_options: Any) -> None:
        print(f"Warning: {escape_controls(' '.join(str(message).split()))}", file=sys.stderr)

    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore")
        warnings.showwarning = show
        yield


@contextmanager
def _stop_signals(stopped_by: list[int]) -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C and on a termination signal, and record which signal it was."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signal_number: int, _frame: FrameType | None) -> NoReturn:
        stopped_by.append(signal_number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
