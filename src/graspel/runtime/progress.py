"""Progress: which step of a run is at work, and how much of it is done.

The steps of a run call :func:`announce`; a progress bar, a log or a test receives these messages with
:func:`listening`. The two do not depend on each other, and without a listener a message costs nothing.

>>> received = []
>>> with listening(received.append):
...     announce("nearest neighbors", 0.5)
>>> received[0].step, received[0].share
('nearest neighbors', 0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from graspel.runtime.notebook_progress import in_notebook, show_in_notebook


@dataclass(frozen=True)
class Progress:
    """One message: the name of the step, the share of it that is done (0 to 1, None if unknown), a short detail."""

    step: str
    share: float | None = None
    detail: str = ""


Listener = Callable[[Progress], None]

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("graspel_progress_listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every message that is announced inside the ``with`` block to `listener`."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def announce(step: str, share: float | None = None, detail: str = "") -> None:
    """Tell all listeners that the share `share` of `step` is done."""
    listeners = _listeners.get()
    if listeners:
        progress = Progress(step, share, detail)
        for listener in listeners:
            listener(progress)


def print_progress(progress: Progress) -> None:
    """Print one message as a line, in a notebook in place of the last; the listener of ``verbose=True``."""
    if in_notebook():
        show_in_notebook(progress)
        return
    share = "" if progress.share is None else f" {progress.share:4.0%}"
    detail = f" ({progress.detail})" if progress.detail else ""
    print(f"graspel: {progress.step}{share}{detail}", flush=True)
