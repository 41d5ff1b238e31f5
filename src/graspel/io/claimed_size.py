"""The size that a file claims: nodes of a graph, rows and columns of a sparse matrix.

A few bytes of a file can claim a billion nodes, and whoever computes with the graph needs arrays of that length. So
readers refuse a size that the entries of the file cannot explain, before anything of that size is made.
"""

from __future__ import annotations

__all__ = ["check_claimed_size"]

ENTRIES = 1_000  # claimed size for each entry of the file; no real graph or table has 999 of 1,000 nodes or rows empty
FREE = 10_000_000  # claimed size that needs no entries; arrays of this length take less than 100 MB each


def check_claimed_size(size: int, n_entries: int, noun: str, entries: str) -> None:
    """Raise if `size` is far more than `n_entries` entries can explain.

    >>> check_claimed_size(5, 0, "nodes", "edges")
    >>> check_claimed_size(2_000_000_000, 3, "nodes", "edges")
    Traceback (most recent call last):
    ...
    ValueError: it claims 2,000,000,000 nodes but holds 3 edges; at most 1,000 nodes for each of the edges, and
    10,000,000 more, are read, because every one of them takes memory. Leave out nodes without edges
    """
    if size > ENTRIES * n_entries + FREE:
        raise ValueError(
            f"it claims {size:,} {noun} but holds {n_entries:,} {entries}; at most {ENTRIES:,} {noun} for each of the "
            f"{entries}, and {FREE:,} more, are read, because every one of them takes memory. Leave out {noun} "
            f"without {entries}"
        )
