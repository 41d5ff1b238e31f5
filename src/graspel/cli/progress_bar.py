"""The progress bar: which step is running, how much of it is done, and how long it will still take.

It listens to :mod:`graspel.progress` and draws on stderr, so that stdout stays free for results. Where stderr is not a
terminal it writes one plain line per step instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from graspel.progress import Progress, listening

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(show: bool = True) -> Iterator[None]:
    """Show the progress of what runs inside the ``with`` block; with ``show=False`` do nothing."""
    if not show:
        yield
        return
    if not sys.stderr.isatty():
        with listening(_PlainLines().hear):
            yield
        return
    with _bars() as bars, listening(_Bars(bars).hear):
        yield


class _PlainLines:
    """One line for each step, when it is first heard of."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def hear(self, progress: Progress) -> None:
        if progress.step not in self._seen:
            self._seen.add(progress.step)
            detail = f" ({progress.detail})" if progress.detail else ""
            print(f"{progress.step}{detail} ...", file=sys.stderr, flush=True)


class _Bars:
    """One bar for each step; a step that comes again in a later round starts its bar anew."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._current: str | None = None
        self._started = monotonic()
        self._seconds: dict[str, float] = {}

    def hear(self, progress: Progress) -> None:
        if progress.step != self._current:
            self._finish_current()
            self._start(progress.step)
        completed = None if progress.share is None else 100 * progress.share
        total = None if progress.share is None else 100
        task = self._tasks[progress.step]
        self._bars.update(task, completed=completed, total=total, detail=progress.detail)

    def _start(self, step: str) -> None:
        self._current, self._started = step, monotonic()
        if step in self._tasks:
            self._bars.reset(self._tasks[step], total=None, detail="", left=True)
        else:
            self._tasks[step] = self._bars.add_task(step, total=None, detail="", left=True)

    def _finish_current(self) -> None:
        if self._current is None:
            return
        seconds = self._seconds.get(self._current, 0.0) + monotonic() - self._started
        self._seconds[self._current] = seconds
        task = self._tasks[self._current]
        self._bars.update(task, total=100, completed=100, detail=f"{seconds:.1f} s", left=False)
        self._bars.stop_task(task)


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TaskProgressColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        """The time a running step will still take, judged by its speed so far."""

        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            if not task.fields.get("left") or task.time_remaining is None:
                return Text("")
            minutes, seconds = divmod(int(task.time_remaining), 60)
            return Text(f"{minutes}:{seconds:02d} left", style="progress.remaining")

    unicode = (sys.stderr.encoding or "").lower().startswith("utf")
    return RichProgress(
        SpinnerColumn("dots" if unicode else "line", finished_text="[green]✓" if unicode else "*"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=32),
        TaskProgressColumn(),
        TimeLeft(),
        TextColumn("{task.fields[detail]}", style="dim", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
