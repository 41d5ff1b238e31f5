"""Provenance: the step of the method that added an edge to the graph."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Origin"]


class Origin(IntEnum):
    """Why an edge is in the graph: the step of the method that added it.

    Examples
    --------
    >>> Origin.JOIN.meaning
    'closest pair between two components'
    >>> Origin(1).label
    'neighbor'
    """

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Origin:
        """Make a member from its code and its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    GIVEN = 0, "edge of the graph that was given"
    NEIGHBOR = 1, "pair of nearest neighbors in the data"
    TREE = 2, "edge of a spanning tree"
    SPARSIFIER = 3, "off-tree edge kept by the spectral sparsifier"
    JOIN = 4, "closest pair between two components"
    CRITICAL = 5, "pair of large spectral distortion"
    LIKELY = 6, "pair without which the signals are much less likely"

    @property
    def label(self) -> str:
        """The name in lower case, as written to files."""
        return self.name.lower()
