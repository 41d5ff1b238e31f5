"""The odd ones: outliers, copies, and the single edges and points that hold large parts of the graph together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graspel.findings.bridges import find_bridges
from graspel.report.material import Material
from graspel.runtime.types import Floats, Ints

__all__ = ["OddOnes", "find_odd_ones"]


SHOWN = 20  # rows of each list
STRIKING = 2.0  # an outlier is striking if it is this many times farther from others than is usual
SMALLEST_PART = 5  # points; a bridge that parts fewer is not listed
MEMBERS = 6  # copies named in a row


@dataclass(frozen=True)
class OddOnes:
    """What is odd, each list with the oddest first.

    Attributes
    ----------
    outliers, scores : arrays of points, and how odd they are
    copies : list of arrays, the points that are equal to each other, largest set first
    n_striking : int, points that lie at least twice as far from others as is usual
    n_copies : int, points that are equal to an earlier one
    edges, edge_parts : bridges (numbers of edges), and how many points each parts from the rest
    nodes, node_parts : cut points, and how many points each parts from the rest
    """

    outliers: Ints
    scores: Floats
    n_striking: int
    copies: list[Ints]
    n_copies: int
    edges: Ints
    edge_parts: Ints
    nodes: Ints
    node_parts: Ints


def find_odd_ones(material: Material) -> OddOnes:
    """Find outliers, copies and bridges."""
    scores = material.outlier_scores
    outliers = np.lexsort([np.arange(len(scores)), -scores])[:SHOWN]
    copies, n_copies = _find_copies(material.near.original)
    found = find_bridges(material.graph)
    edges, nodes = found.edge_parts >= SMALLEST_PART, found.node_parts >= SMALLEST_PART
    return OddOnes(
        outliers,
        scores[outliers],
        int((scores >= STRIKING).sum()),
        copies,
        n_copies,
        found.edges[edges][:SHOWN],
        found.edge_parts[edges][:SHOWN],
        found.nodes[nodes][:SHOWN],
        found.node_parts[nodes][:SHOWN],
    )


def _find_copies(original: Ints) -> tuple[list[Ints], int]:
    """Sets of equal points, and how many points are equal to an earlier one."""
    sizes = np.bincount(original, minlength=len(original))
    largest = np.argsort(-sizes, kind="stable")[:SHOWN]
    sets = [np.flatnonzero(original == first) for first in largest if sizes[first] > 1]
    return sets, int((original != np.arange(len(original))).sum())
