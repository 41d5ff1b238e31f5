"""The anomalies on the page: outliers, copies, and the single edges and points that hold the graph together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.findings import Table, find_bridges, find_copies, find_cut_points, find_near_copies
from graspel.findings.odd_columns import can_explain, find_odd_columns
from graspel.report.inputs import Inputs
from graspel.report.packing import Selection
from graspel.runtime.types import Ints

SHOWN = 20  # rows of each list
SMALLEST_CUT = 5  # points; a bridge that cuts off fewer is not listed
MEMBERS = 6  # equal points named in a row


@dataclass(frozen=True)
class Anomalies:
    """The findings of each kind that are listed, the most striking first, and how many there are.

    Attributes
    ----------
    outliers, bridges, cut_points : Tables
    copies : list of arrays, the points that are equal to each other, largest set first
    striking : array, all points that lie far from all others
    equal : array, all points that are equal to an earlier one
    nearly : Table, the points that are nearly equal to an earlier one
    why : dict of lists, the columns that make an outlier one, each with its value and the usual ones
    """

    outliers: Table
    copies: list[Ints]
    bridges: Table
    cut_points: Table
    striking: Ints
    equal: Ints
    nearly: Table
    why: dict[int, list[tuple[str, str, str]]]

    @property
    def n_striking(self) -> int:
        """Number of points that lie at least twice as far from others as is usual."""
        return len(self.striking)

    @property
    def n_copies(self) -> int:
        """Number of points that are equal to an earlier one."""
        return len(self.equal)

    @property
    def points(self) -> Ints:
        """All points that the lists name."""
        ends = self.bridges["head"], self.bridges["tail"]
        return np.concatenate(
            [self.outliers["point"], *(equal[:MEMBERS] for equal in self.copies), *ends, self.cut_points["point"]]
            + [self.nearly[name][:SHOWN] for name in ("point", "copy_of")]
        )

    def pack(self, selection: Selection) -> dict[str, Any]:
        """The lists in types that JSON knows; points are numbered among those that are drawn."""
        outliers, bridges, cut_points = (
            table.take(np.logical_and.reduce([np.isin(table[name], selection.nodes) for name in names]))
            for table, names in (
                (self.outliers, ("point",)),
                (self.bridges, ("head", "tail")),
                (self.cut_points, ("point",)),
            )
        )
        ends = selection.places(bridges["head"]), selection.places(bridges["tail"])
        points = selection.places(outliers["point"]), outliers["score"].tolist()
        nearly = [self.nearly[name][:SHOWN] for name in ("point", "copy_of")]
        return {
            "outliers": list(zip(*points, [self.why.get(p, []) for p in outliers["point"].tolist()], strict=True)),
            "n_outliers": self.n_striking,
            "nearly": [selection.places(np.array(pair)) for pair in zip(*nearly, strict=True)],
            "n_nearly": len(self.nearly),
            "copies": [{"points": selection.places(one[:MEMBERS]), "number": len(one)} for one in self.copies],
            "n_copies": self.n_copies,
            "edges": list(zip(*ends, bridges["cut_off"].tolist(), strict=True)),
            "nodes": list(zip(selection.places(cut_points["point"]), cut_points["cut_off"].tolist(), strict=True)),
        }


def find_anomalies(inputs: Inputs) -> Anomalies:
    """Find outliers, copies and bridges."""
    outliers, copies = inputs.outliers, find_copies(inputs.near.original)
    first = copies["copy_of"][np.sort(np.unique(copies["copy_of"], return_index=True)[1])][:SHOWN]
    bridges, cut_points = find_bridges(inputs.graph), find_cut_points(inputs.graph)
    striking = outliers.take(outliers["striking"])
    shown, listed = inputs.values if inputs.is_read else None, striking["point"][:SHOWN]
    why: dict[int, list[tuple[str, str, str]]] = {}
    if shown is not None and can_explain(inputs.index, shown):
        for row in find_odd_columns(listed, inputs.near, inputs.index.points, shown).rows():
            why.setdefault(row["point"], []).append((row["column"], row["value"], row["usual"]))
    return Anomalies(
        outliers=striking.head(SHOWN),
        copies=[np.flatnonzero(inputs.near.original == point) for point in first],
        bridges=bridges.take(bridges["cut_off"] >= SMALLEST_CUT).head(SHOWN),
        cut_points=cut_points.take(cut_points["cut_off"] >= SMALLEST_CUT).head(SHOWN),
        striking=striking["point"],
        equal=np.sort(copies["point"]),
        nearly=find_near_copies(inputs.near),
        why=why,
    )
