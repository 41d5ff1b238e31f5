"""The paper's tables and figures, measured again.

`REPRODUCTIONS` names them: ``python -m reproduction NAME`` runs one, ``python -m reproduction all`` runs all of them.
Each is a module of this package with a function ``run(request, results)``, which measures what is missing among the
results, draws its pictures beside them, and returns a page of Markdown. A new one is a module and a line in the dict.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from reproduction.request import Request
from reproduction.results import Results

__all__ = ["REPRODUCTIONS", "Reproduction", "Request", "Results"]


@dataclass(frozen=True)
class Reproduction:
    """One table or figure.

    Attributes
    ----------
    module : str
        Name of the module in this package.
    full, quick : float
        Seconds that a full run and a quick run take on two cores, roughly; for the estimate of the time left.
    """

    module: str
    full: float
    quick: float

    def __call__(self, request: Request, results: Results) -> str:
        """Measure what is missing, and return the page as Markdown."""
        page: str = import_module(f"reproduction.{self.module}").run(request, results)
        return page

    def seconds(self, request: Request) -> float:
        """Seconds that the request is expected to take."""
        return self.quick if request.quick else self.full


REPRODUCTIONS: dict[str, Reproduction] = {
    "paper": Reproduction("point_by_point", full=3600, quick=120),
    "table1": Reproduction("table1", full=5400, quick=75),
    "table2": Reproduction("table2", full=120, quick=20),
    "fig-convergence": Reproduction("fig_convergence", full=10, quick=10),
    "fig-objective": Reproduction("fig_objective", full=150, quick=45),
    "fig-spectra": Reproduction("fig_spectra", full=60, quick=15),
    "tsne": Reproduction("tsne", full=900, quick=60),
    "suite": Reproduction("suite", full=3600, quick=120),
    "graphs": Reproduction("same_stage", full=3000, quick=40),
    "authors-code": Reproduction("authors_code", full=900, quick=60),
    "counts": Reproduction("counts", full=900, quick=60),
    "robustness": Reproduction("robustness", full=7200, quick=60),
    "fig-recovery-time": Reproduction("recovery_time", full=900, quick=20),
}

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
