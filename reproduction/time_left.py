"""The time left of a run through everything: what is still to do, at the pace so far."""

from __future__ import annotations

__all__ = ["TimeLeft", "in_words"]

MEASURED = 0.1  # a part that took less than this share of what was expected had been measured before: it tells no pace


class TimeLeft:
    """Parts with the seconds expected of each; those done correct the estimate of the others.

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
        """Take down what a part took."""
        expected = self._left.pop(name)
        if seconds >= MEASURED * expected:
            self._expected += expected
            self._took += seconds

    @property
    def seconds(self) -> float:
        """Seconds left, if all goes on at the pace so far."""
        pace = self._took / self._expected if self._expected else 1.0
        return pace * sum(self._left.values())


def in_words(seconds: float) -> str:
    """A duration as one says it.

    >>> in_words(20), in_words(90), in_words(7_000)
    ('less than a minute', 'about 2 minutes', 'about 1.9 hours')
    """
    if seconds < 45:
        return "less than a minute"
    if seconds < 5400:
        minutes = max(1, round(seconds / 60))
        return f"about {minutes} minute{'' if minutes == 1 else 's'}"
    return f"about {seconds / 3600:.1f} hours"
