"""Progress: how far a run has come, for whoever listens.

The steps of a run call :func:`announce`; a progress bar, a log or a test listens with :func:`listening`. Neither
knows the other, and where nobody listens a report costs nothing.

>>> heard = []
>>> with listening(heard.append):
...     announce("neighbors", 0.5)
>>> heard[0].step, heard[0].share
('neighbors', 0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One report: the step's name, the share of that step done (0 to 1, None if unknown), and a short detail."""

    step: str
    share: float | None = None
    detail: str = ""


Listener = Callable[[Progress], None]

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("graspel_progress_listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every report made inside the ``with`` block to `listener`."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def announce(step: str, share: float | None = None, detail: str = "") -> None:
    """Tell all listeners that `step` has done `share` of its work."""
    listeners = _listeners.get()
    if listeners:
        progress = Progress(step, share, detail)
        for listener in listeners:
            listener(progress)


def print_progress(progress: Progress) -> None:
    """Print one report as a line: what ``verbose=True`` listens with."""
    share = "" if progress.share is None else f" {progress.share:4.0%}"
    detail = f" ({progress.detail})" if progress.detail else ""
    print(f"graspel: {progress.step}{share}{detail}", flush=True)
