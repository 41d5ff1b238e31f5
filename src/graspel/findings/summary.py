"""The summary of an audit: what was found, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graspel.findings.copies import EXACT
from graspel.findings.table import Table

LISTED = 6  # groups that are described
SHORT = 3  # cases that a sentence names


def summarize(tables: Mapping[str, Table], n_points: int) -> list[str]:
    """Sentences about the findings, one for each kind that was looked for.

    >>> summarize({"outliers": Table({"point": np.zeros(0, dtype=int), "why": np.zeros(0, dtype=object)})}, 9)
    ['9 points.', 'No point lies far from all others.']
    """
    sentences = [f"{n_points:,} points{_count_groups(tables)}."]
    sentences += [sentence(tables[name]) for name, sentence in _SENTENCES.items() if name in tables]
    return sentences


def list_groups(groups: Table) -> list[tuple[str, str, str]]:
    """For the largest groups a label, a size, and what sets each apart."""
    order = np.argsort(-groups["size"], kind="stable")[:LISTED]
    rows = list(groups.take(order).rows())
    return [(f"group {row['group']}", f"{row['size']:,} points", row["set_apart_by"]) for row in rows]


def _count_groups(tables: Mapping[str, Table]) -> str:
    n_groups = len(tables["groups"]) if "groups" in tables else 0
    return f" in {n_groups} groups" if n_groups > 1 else ""


def _say_leaks(leaks: Table) -> str:
    if not len(leaks):
        return "No point has a copy in another part of the data."
    exact = int((leaks["kind"] == EXACT).sum())
    parts = ", ".join(
        f"{int(((leaks['split'] == a) & (leaks['split_of'] == b)).sum()):,} of {a!r} in {b!r}"
        for a, b in sorted(set(zip(leaks["split"].tolist(), leaks["split_of"].tolist(), strict=True)))
    )
    return f"{_points(len(leaks), 'has', 'have')} a copy in another part ({exact:,} of them exact): {parts}."


def _say_labels(labels: Table) -> str:
    n_confident = int(labels["confident"].sum())
    unsure = len(labels) - n_confident
    more = f" {unsure:,} more differ from most labels near them, as on the border of two classes." if unsure else ""
    if not n_confident:
        return f"No label is clearly contradicted by the points near it.{more}"
    noun = "1 label is" if n_confident == 1 else f"{n_confident:,} labels are"
    return f"{noun} clearly contradicted by the points near, and should be checked.{more}"


def _say_copies(copies: Table) -> str:
    if not len(copies):
        return "No two points are equal, or nearly so."
    exact = int((copies["kind"] == EXACT).sum())
    said = f"{_points(exact, 'is', 'are')} equal to an earlier one, and {len(copies) - exact:,} nearly so."
    if "label" in copies.columns:
        one, other = copies["label"], copies["copy_label"]
        differ = int(((one != other) & (one != "") & (other != "")).sum())
        said += f" {differ:,} of them have another label than their copy." if differ else ""
    return said


def _say_outliers(outliers: Table) -> str:
    if not len(outliers):
        return "No point lies far from all others."
    said = f"{_points(len(outliers), 'lies', 'lie')} far from all others"
    if "why" not in outliers.columns:
        return f"{said}."
    first = [
        f"point {row.get('name', row['point'])}: {row['why']}" for row in outliers.head(SHORT).rows() if row["why"]
    ]
    return f"{said}. {'; '.join(first)}.".replace(" .", "")


def _say_bridges(bridges: Table) -> str:
    edges = int((bridges["kind"] == "edge").sum())
    if not edges:
        return "No single edge of the graph holds a part of the data."
    return f"{edges:,} {'edge' if edges == 1 else 'edges'} of the graph alone connect a part of the data."


def _points(number: int, one: str, many: str) -> str:
    return f"1 point {one}" if number == 1 else f"{number:,} points {many}"


_SENTENCES = {
    "leakage": _say_leaks,
    "labels": _say_labels,
    "copies": _say_copies,
    "outliers": _say_outliers,
    "bridges": _say_bridges,
}
