"""Request: which part of a table or figure is to be measured. Cell: one method on one data set with one seed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from graspel.runtime.parameters import check_number

SEEDS, QUICK_SEEDS = 10, 2  # seeds of every cell, for a mean and its spread


@dataclass(frozen=True)
class Request:
    """What to measure.

    Parameters
    ----------
    only : tuple of str or None
        Data sets; None for all (of a quick run: the small ones).
    methods : tuple of str or None
        Methods; None for all except those that are slow on a data set.
    seeds : int or None
        Seeds 0, 1, ... of every cell; None for 10, in a quick run 2.
    quick : bool
        A first look: small data, two seeds, no slow peers.
    limit : float
        Seconds after which a slow peer is stopped on large data.
    """

    only: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    seeds: int | None = None
    quick: bool = False
    limit: float = 1200.0

    def __post_init__(self) -> None:
        if self.seeds is not None:
            check_number("seeds", self.seeds, ">= 1", lambda value: value >= 1, whole=True)
        check_number("limit", self.limit, "of seconds > 0", lambda value: value > 0)

    @property
    def n_seeds(self) -> int:
        """Number of seeds."""
        return self.seeds or (QUICK_SEEDS if self.quick else SEEDS)


class Cell(NamedTuple):
    """One method on one data set with one seed."""

    dataset: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        """The name of the cell among the results."""
        return f"{self.dataset}/{self.method}/{self.seed}"


def choose_names(option: str, names: Iterable[str] | None, known: Collection[str]) -> list[str]:
    """The names that were asked for, in the order of `known`; all of them if `names` is None.

    Examples
    --------
    >>> choose_names("only", ["usps", "coil20"], ["coil20", "pendigits", "usps"])
    ['coil20', 'usps']
    >>> choose_names("only", ["iris"], ["coil20", "usps"])
    Traceback (most recent call last):
    ...
    ValueError: only=iris: there is no such name; choose from coil20, usps, with commas between several.
    """
    names = list(known) if names is None else list(names)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(
            f"{option}={','.join(unknown)}: there is no such name; choose from {', '.join(known)}, "
            "with commas between several."
        )
    return [name for name in known if name in names]
