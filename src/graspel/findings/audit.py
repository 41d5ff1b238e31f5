"""Audit: everything that is found in a data set, as one object of tables, by one search for neighbors."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from graspel.data.prepare import is_of_rows
from graspel.data.validation import find_row_names, is_mixed
from graspel.estimators.clustering import GraspelClustering
from graspel.estimators.learner import GRASPEL
from graspel.findings.bridges import find_bridges, find_cut_points
from graspel.findings.classes import count_classes
from graspel.findings.copies import EXACT, NEARLY, find_copies, find_leaks, find_near_copies
from graspel.findings.differences import find_differences
from graspel.findings.doubtful_labels import find_doubtful_labels, rows_of
from graspel.findings.given import check_classes, check_each, check_length, number_classes
from graspel.findings.groups import distances_to_centers, find_nearest_groups, find_representatives
from graspel.findings.near_points import NEAR, NearPoints, near_points
from graspel.findings.odd_columns import can_explain, find_odd_columns
from graspel.findings.outliers import find_outliers
from graspel.findings.shown import Shown, make_shown
from graspel.findings.summary import summarize
from graspel.findings.table import Table
from graspel.io.columns import read_columns
from graspel.io.encoder import TableEncoder
from graspel.io.point_files import write_rows
from graspel.neighbors.index import NeighborIndex
from graspel.runtime.shown import shorten
from graspel.runtime.types import Ints

NEEDED = {"labels": "the labels as y", "leakage": "the parts as split"}
POINTS = {
    "point": "",
    "copy_of": "copy_of_",
}  # columns that hold points, and what the columns of their words begin with
COUNTED = ("labels", "copies", "leakage", "outliers", "bridges")  # findings of which there should be none
FINDINGS = ("labels", "copies", "leakage", "outliers", "bridges", "groups", "differences")
WITNESSES = 5  # near points named as evidence
APART = 3  # columns or words that describe a group
EXCERPT = 80  # characters of a text in a table
SMALLEST_CUT = 5  # points; a bridge that cuts off fewer is not listed
SMALLEST_CLUSTERED = 8  # points; fewer are one group


@dataclass(frozen=True, repr=False)
class Audit:
    """What was found in a data set; made by :func:`graspel.audit`.

    Each finding is a pandas DataFrame, or a dict of arrays where pandas is not installed, with one row for each case,
    the most striking first. Points are numbered from 0, in the order of the rows of X.

    Attributes
    ----------
    labels : doubtful labels, with the near points that contradict them; only with labels
    copies : points that are equal, or nearly equal, to an earlier one
    leakage : points with a copy in a larger part of the data; only with parts
    outliers : points far from all others, with the columns (or the nearest texts) that show it
    bridges : edges and points whose removal would cut a part off
    groups : the groups, with what sets each apart and its most typical points
    differences : all columns or words that set groups apart, one row for each
    tables : dict of :class:`graspel.findings.Table`, the same by name
    model : the fitted GRASPEL, with its graph and certificate
    clusterer : the fitted GraspelClustering, if groups were found here
    """

    tables: dict[str, Table]
    model: GRASPEL
    clusterer: Any

    def __getattr__(self, name: str) -> Any:
        """A finding by its name."""
        if name in FINDINGS and name in self.tables:
            return self.tables[name].to_frame()
        hint = f"; give {NEEDED[name]} to audit() for it" if name in NEEDED else ""
        raise AttributeError(f"this audit has no {name!r}, but {', '.join(self.tables)}{hint}.")

    @property
    def counts(self) -> dict[str, int]:
        """How many cases of each finding there are; of labels the confident ones alone."""
        counted = {name: len(table) for name, table in self.tables.items() if name in COUNTED}
        if "labels" in counted:
            counted["labels"] = int(self.tables["labels"]["confident"].sum())
        return counted

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write each finding to a .csv file in a folder that exists; return their paths.

        Texts that a spreadsheet would take for a formula get an apostrophe (SECURITY.md).
        """
        paths = [Path(folder) / f"{name}.csv" for name in self.tables]
        for path, table in zip(paths, self.tables.values(), strict=True):
            write_rows(path, list(table.columns), ([row[name] for name in row] for row in table.rows()))
        return paths

    @property
    def sentences(self) -> list[str]:
        """What was found, in plain words."""
        return summarize(self.tables, self.model.graph_.n_nodes)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


def audit(
    X: Any,
    y: Any = None,
    *,
    split: Any = None,
    texts: Any = None,
    names: Any = None,
    values: Any = None,
    clusters: Any = "auto",
    model: GRASPEL | None = None,
    metric: Any = "euclidean",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Audit:
    """Find doubtful labels, copies, leaks between parts, outliers, bridges, and groups, each with its evidence.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or NeighborIndex (N x M)
        The points as rows. Neighbors are searched once for everything. A DataFrame may hold categories, dates and
        missing values: it is then prepared by :class:`graspel.TableEncoder`.
    y : array-like of N, optional
        Known classes, whose labels are checked; None, NaN or an empty text for a point without a label.
    split : array-like of N, optional
        The part that each point is in, such as "train" and "test".
    texts : sequence of N str, optional
        The text of each point. Groups are then described by words.
    names : sequence of N str, optional
        The name of each point; default: the index of a DataFrame.
    values : DataFrame or array (N x M), optional
        The columns of X in the units in which they are to be shown; default: X itself.
    clusters : int, "auto", array-like of N, or a fitted GraspelClustering, default="auto"
        How many groups to find, or the groups.
    model : GRASPEL, optional
        Who learns the graph, with settings of its own.
    metric : {"euclidean", "cosine", "correlation", "precomputed"}, str or callable, default="euclidean"
        As in :class:`graspel.GRASPEL`.
    random_state : int, RandomState, Generator or None, default=0
        Same seed, same findings.
    n_jobs : int, default=None
        Number of threads; None or -1 for all cores.

    Returns
    -------
    found : Audit

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine(as_frame=True)
    >>> wine.data.loc[7, "alcohol"] = 140.0  # a decimal point was lost
    >>> found = audit((wine.data - wine.data.mean()) / wine.data.std(), wine.target, values=wine.data)
    >>> print(found.outliers[["point", "column", "value"]].head(1).to_string(index=False))
    point  column value
        7 alcohol   140
    """
    index = X
    if isinstance(X, NeighborIndex):
        X.check_agrees(GRASPEL(metric=metric))
    else:
        names = find_row_names(X) if names is None else names
        if values is None and is_mixed(X):
            X, values = _encode(X)
        index = NeighborIndex(X, metric=metric, random_state=random_state, n_jobs=n_jobs)
        values = X if values is None and hasattr(X, "columns") else values
    values = index.features if values is None and texts is None else values
    n = index.expect(NEAR).n_points
    shown = values if values is None or isinstance(values, Shown) else make_shown(values)
    if shown is not None:
        check_length("values", shown.values.shape[0], n)
    if not isinstance(clusters, str | int | np.integer | None):
        check_length("clusters", len(getattr(clusters, "labels_", clusters)), n)
    case = _Case(
        index=index,
        shown=shown,
        texts=check_each("texts", texts, n),
        names=check_each("names", names, n),
        classes=check_classes(y, n),
        split=check_each("split", split, n),
        clusters=clusters,
        learner=model,
        run={"random_state": random_state, "n_jobs": n_jobs},
    )
    return case.examine()


def _encode(X: Any) -> tuple[Any, Shown]:
    """A table of numbers, categories and dates as numbers, and its values as they are to be shown."""
    columns = read_columns(X)
    encoder = TableEncoder().fit_columns(columns)
    warnings.warn("X was prepared by graspel.TableEncoder(); give its result as X to choose otherwise.", stacklevel=3)
    return encoder.encode(columns), encoder.show_columns(columns)


@dataclass(frozen=True)
class _Case:
    """What is audited, and the steps that several findings share."""

    index: NeighborIndex
    shown: Shown | None
    texts: list[str] | None
    names: list[str] | None
    classes: list[str] | None
    split: list[str] | None
    clusters: Any
    learner: GRASPEL | None
    run: dict[str, Any]

    @cached_property
    def clusterer(self) -> Any:
        """Who found the groups; None if they were given."""
        if hasattr(self.clusters, "labels_"):
            return self.clusters
        if not isinstance(self.clusters, str | int | np.integer) or self.index.n_points < SMALLEST_CLUSTERED:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            n_clusters: Any = self.clusters
            return GraspelClustering(n_clusters, metric=self.index.metric, **self.run).fit(self.index)

    @cached_property
    def model(self) -> GRASPEL:
        """The learned graph."""
        learner = GRASPEL(metric=self.index.metric, **self.run) if self.learner is None else self.learner
        return learner.fit(self.index)

    @cached_property
    def near(self) -> NearPoints:
        """The points near each point."""
        return near_points(self.index)

    @cached_property
    def groups(self) -> tuple[Ints, list[str]]:
        """The group of every point, and the labels of the groups."""
        labels = self.clusters if self.clusterer is None else self.clusterer.labels_
        if labels is None or isinstance(labels, str | int | np.integer):
            labels = np.zeros(self.index.n_points, dtype=np.int64)
        known, groups = np.unique(np.asarray(labels), return_inverse=True)
        return groups.astype(np.int64), [str(label) for label in known.tolist()]

    def examine(self) -> Audit:
        """All findings."""
        _ = self.groups, self.model  # what asks for the longest lists comes first: one search serves all
        tables = {"copies": self._copies(), "outliers": self._outliers(), "bridges": self._bridges(), **self._groups()}
        if self.classes is not None:
            tables["labels"] = self._labels(self.classes)
        if self.split is not None:
            tables["leakage"] = self._with_classes(find_leaks(self.near, self.split))
        named = {name: self._with_words(tables[name]) for name in FINDINGS if name in tables}
        return Audit(named, self.model, self.clusterer)

    def _labels(self, classes: list[str]) -> Table:
        known, numbers = number_classes(classes)
        found = find_doubtful_labels(self.near, self.model.graph_, numbers, rows_of(self.index))
        found = found.take(found["score"] > 0)
        evidence = [
            "; ".join(f"{q}: {classes[q] or '(none)'}" for q in self.near.of(p)[:WITNESSES].tolist())
            for p in found["point"].tolist()
        ]
        columns = {**found.columns, "label": known[found["label"]], "suggested": known[found["suggested"]]}
        del columns["witness"]
        return Table({**columns, "near": np.array(evidence, dtype=object)})

    def _copies(self) -> Table:
        equal, nearly = find_copies(self.near.original), find_near_copies(self.near)
        zeros = np.zeros(len(equal))
        columns = {
            "point": np.concatenate([equal["point"], nearly["point"]]),
            "copy_of": np.concatenate([equal["copy_of"], nearly["copy_of"]]),
            "kind": np.repeat(np.array([EXACT, NEARLY], dtype=object), [len(equal), len(nearly)]),
            "distance": np.concatenate([zeros, nearly["distance"]]),
            "ratio": np.concatenate([zeros, nearly["ratio"]]),
        }
        return self._with_classes(Table(columns))

    def _with_classes(self, table: Table) -> Table:
        """The table with the labels of a point and of what it is a copy of."""
        if self.classes is None:
            return table
        classes = np.asarray(self.classes, dtype=object)
        return Table({**table.columns, "label": classes[table["point"]], "copy_label": classes[table["copy_of"]]})

    def _outliers(self) -> Table:
        groups, labels = self.groups
        found = find_outliers(self.near, rows_of(self.index))
        found = found.take(found["striking"])
        nearest = [self.near.of(p)[:1].tolist() for p in found["point"].tolist()]
        columns = {name: found[name] for name in ("point", "score", "distance")}
        columns["group"] = np.asarray(labels, dtype=object)[groups[found["point"]]]
        if self.texts is not None:
            near = [shorten(self.texts[q[0]], EXCERPT) if q else "" for q in nearest]
            return Table({**columns, "near_text": np.array(near, dtype=object)})
        if self.shown is None or not can_explain(self.index, self.shown):
            return Table({**columns, "nearest": np.array([q[0] if q else -1 for q in nearest], dtype=np.int64)})
        odd = find_odd_columns(found["point"], self.near, self.index.points, self.shown)
        return Table({**columns, **_first_and_all(found["point"], odd)})

    def _bridges(self) -> Table:
        edges, points = find_bridges(self.model.graph_), find_cut_points(self.model.graph_)
        edges, points = (table.take(table["cut_off"] >= SMALLEST_CUT) for table in (edges, points))
        columns = {
            "kind": np.repeat(np.array(["edge", "point"], dtype=object), [len(edges), len(points)]),
            "point": np.concatenate([edges["head"], points["point"]]),
            "other": np.concatenate([edges["tail"], points["point"]]),
            "cut_off": np.concatenate([edges["cut_off"], points["cut_off"]]),
        }
        found = Table(columns)
        return found.take(np.argsort(-found["cut_off"], kind="stable"))

    def _groups(self) -> dict[str, Table]:
        groups, labels = self.groups
        n_groups = len(labels)
        differences = find_differences(groups, n_groups, self.shown, self.texts)
        of = [differences.take(differences["group"] == g) for g in range(n_groups)]
        near = find_nearest_groups(self.near, self.model.graph_, groups, 1)
        nearest = dict(zip(near["group"].tolist(), near["other"].tolist(), strict=True))
        typical = find_representatives(groups, self._distances(groups), WITNESSES)
        columns: dict[str, Any] = {
            "group": labels,
            "size": np.bincount(groups, minlength=n_groups),
            "set_apart_by": ["; ".join(rows["words"][:APART].tolist()) for rows in of],
            "typical": ["; ".join(map(str, typical["point"][typical["group"] == g])) for g in range(n_groups)],
            "nearest_group": [labels[nearest[g]] if g in nearest else "" for g in range(n_groups)],
        }
        if self.classes is not None:
            columns["classes"] = _largest_classes(groups, n_groups, self.classes)
        if self.texts is not None:
            first = [typical["point"][typical["group"] == g][:1].tolist() for g in range(n_groups)]
            columns["typical_text"] = [shorten(self.texts[q[0]], EXCERPT) if q else "" for q in first]
        arrays = {n: c if isinstance(c, np.ndarray) else np.array(c, dtype=object) for n, c in columns.items()}
        named = np.asarray(labels, dtype=object)[differences["group"]]
        told = {name: column for name, column in differences.columns.items() if name not in ("source", "kind")}
        return {"groups": Table(arrays), "differences": Table({**told, "group": named})}

    def _distances(self, groups: Ints) -> Any:
        """How far every point is from the middle of its group."""
        if is_of_rows(self.index.metric) and not self.index.is_remote:
            return distances_to_centers(self.index.points, groups)
        return self.near.mean_distances()

    def _with_words(self, table: Table) -> Table:
        """The table with the names and the texts of its points, where they have some."""
        columns: dict[str, Any] = {}
        for name, column in table.columns.items():
            columns[name] = column
            if name in POINTS and self.names is not None:
                columns[POINTS[name] + "name"] = np.array([self.names[p] for p in column.tolist()], dtype=object)
            if name in POINTS and self.texts is not None:
                cut = [shorten(self.texts[p], EXCERPT) for p in column.tolist()]
                columns[POINTS[name] + "text"] = np.array(cut, dtype=object)
        return Table(columns)


def _first_and_all(points: Ints, odd: Table) -> dict[str, Any]:
    """For every point the column that is most unusual, and all unusual ones in words."""
    rows: dict[int, list[dict[str, Any]]] = {p: [] for p in points.tolist()}
    for row in odd.rows():
        rows[row["point"]].append(row)
    cells = {
        name: np.array([(found[0][name] if found else "") for found in rows.values()], dtype=object)
        for name in ("column", "value", "usual")
    }
    why = ["; ".join(f"{r['column']}: {r['value']} (near: {r['usual']})" for r in found) for found in rows.values()]
    return {**cells, "why": np.array(why, dtype=object)}


def _largest_classes(groups: Ints, n_groups: int, classes: list[str]) -> list[str]:
    known, numbers = number_classes(classes)
    labeled = numbers >= 0
    counts = count_classes(groups[labeled], numbers[labeled], (n_groups, len(known)))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    order = np.argsort(-shares, axis=1, kind="stable")[:, :APART]
    return [
        "; ".join(f"{known[k]}: {shares[g, k]:.0%}".replace("%", " %") for k in order[g] if shares[g, k] > 0)
        for g in range(n_groups)
    ]
