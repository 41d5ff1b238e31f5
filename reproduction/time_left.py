"""The time left of a run of everything: the expected seconds of what is still to do, corrected by the pace so far."""

from __future__ import annotations

__all__ = ["TimeLeft", "format_duration"]

SKIPPED = 0.1  # share of the expected time; a task that takes less was measured by an earlier run and tells no pace


class TimeLeft:
    """Estimates the time left from the seconds expected of each task, and corrects it by the tasks that are done.

    Examples
    --------
    >>> left = TimeLeft({"table": 100.0, "figure": 50.0})
    >>> left.seconds
    150.0
    >>> left.done("table", 200.0)
    >>> left.seconds
    100.0
    """

    def __init__(self, expected: dict[str, float]) -> None:
        self._left = dict(expected)
        self._expected = self._took = 0.0

    def done(self, name: str, seconds: float) -> None:
        """Record the seconds that a task took."""
        expected = self._left.pop(name)
        if seconds >= SKIPPED * expected:
            self._expected += expected
            self._took += seconds

    @property
    def seconds(self) -> float:
        """Seconds left at the pace so far."""
        pace = self._took / self._expected if self._expected else 1.0
        return pace * sum(self._left.values())


def format_duration(seconds: float) -> str:
    """A duration in words.

    >>> format_duration(20), format_duration(90), format_duration(7_000)
    ('less than a minute', 'about 2 minutes', 'about 1.9 hours')
    """
    if seconds < 45:
        return "less than a minute"
    if seconds < 5400:
        minutes = max(1, round(seconds / 60))
        return f"about {minutes} minute{'' if minutes == 1 else 's'}"
    return f"about {seconds / 3600:.1f} hours"
