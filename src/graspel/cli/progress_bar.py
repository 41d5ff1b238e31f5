"""The progress bar: which step is running, how much of it is done, and how long it will still take.

It listens to :mod:`graspel.runtime.progress` and draws on stderr, so that stdout holds results only. If stderr is not
a terminal, it prints one plain line per step instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from graspel.runtime.progress import Pace, Progress, format_left, listening
from graspel.runtime.shown import escape_controls

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


@contextmanager
def progress_bar(show: bool = True) -> Iterator[None]:
    """Show the progress of what runs inside the ``with`` block; with ``show=False`` do nothing."""
    if not show:
        yield
        return
    if not sys.stderr.isatty():
        with listening(_PlainLines().show):
            yield
        return
    with _make_bars() as bars, listening(_Bars(bars).show):
        yield


class _PlainLines:
    """One line for each step, printed when the step begins for the first time."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def show(self, progress: Progress) -> None:
        if progress.step not in self._printed:
            self._printed.add(progress.step)
            detail = f" ({escape_controls(progress.detail)})" if progress.detail else ""
            print(f"{progress.step}{detail} ...", file=sys.stderr, flush=True)


class _Bars:
    """One bar for each step; a step that runs again in a later round starts its bar again."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._current: str | None = None
        self._seconds: dict[str, float] = {}
        self._step_began = monotonic()
        self._pace = Pace()

    def show(self, progress: Progress) -> None:
        if progress.step != self._current:
            self._finish_current()
            self._start(progress.step)
        total = None if progress.share is None else 100
        completed = None if progress.share is None else 100 * progress.share
        ends = self._expected_end(progress)
        task = self._tasks[progress.step]
        self._bars.update(task, completed=completed, total=total, detail=escape_controls(progress.detail), ends=ends)

    def _expected_end(self, progress: Progress) -> float | None:
        """Time at which the step ends if it continues at the same pace; None if that is unknown."""
        now = monotonic()
        left = self._pace.seconds_left(progress, now)
        return None if left is None else now + left

    def _start(self, step: str) -> None:
        self._current, self._step_began = step, monotonic()
        if step in self._tasks:
            self._bars.reset(self._tasks[step], total=None, detail="", ends=None)
        else:
            self._tasks[step] = self._bars.add_task(step, total=None, detail="", ends=None)

    def _finish_current(self) -> None:
        if self._current is None:
            return
        seconds = self._seconds.get(self._current, 0.0) + monotonic() - self._step_began
        self._seconds[self._current] = seconds
        task = self._tasks[self._current]
        self._bars.update(task, total=100, completed=100, detail=f"{seconds:.1f} s", ends=None)
        self._bars.stop_task(task)


def _make_bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TaskProgressColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        """The time that the running step will still take."""

        def render(self, task: Task) -> Text:
            if task.fields["ends"] is None:
                return Text("")
            return Text(format_left(task.fields["ends"] - monotonic()), style="progress.remaining")

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
