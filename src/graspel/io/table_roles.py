"""Roles of the columns of a table: which are features, which one names the points, which one holds known classes.

The user says it (:class:`Roles`). Where nothing is said, a column that can only be an id is taken as one, with a
warning that says so, and everything else that is doubtful is refused or named in a warning: an id, a class or a price
in dollars beside shares in percent that counts as a feature gives a wrong graph without an error.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graspel.io.checks import UnusableFile
from graspel.io.columns import Shown, parse_dates
from graspel.io.features import ColumnPreparation, make_features
from graspel.io.table import FileTable
from graspel.runtime.shown import quote, shorten
from graspel.runtime.types import Floats

MIN_ID_ROWS = 10  # rows from which different whole numbers look like an id; fewer may differ by chance
MAX_CLASSES = 50  # largest number of different values of a column that is named like a class and looks like one
ID_NAMES = re.compile(r"(^|[\W_])(ids?|idx|index|nr|no|number|key|code|row|uid|unnamed: 0)($|[\W_])|^$", re.IGNORECASE)
CLASS_NAMES = re.compile(r"^(y|class(es)?|labels?|target|category|species|cluster|group)$", re.IGNORECASE)
MAX_JUDGED_COLUMNS = 200  # columns of a table in which an id is looked for; more are pixels or genes
MODELS_COLUMN = "the model's column"  # what an error calls a feature of a model whose new points are read


@dataclass(frozen=True)
class Roles:
    """What the user says about the columns; the options of the command line of the same names.

    Attributes
    ----------
    id_column, label_column, split_column : str or None, name of a column, or its number counted from 1
    columns : list of str or None, the features; all others are left out
    drop : list of str, columns to leave out
    scale, impute, encode, chooses : see `ColumnPreparation`
    """

    id_column: str | None = None
    label_column: str | None = None
    split_column: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    scale: str | None = None
    impute: str | None = None
    encode: str | None = None
    chooses: bool = False


class PointTable(NamedTuple):
    """The points of a table: features, names of the rows, their known classes, names of the features, and parts.

    None stands for what the table does not have. `id_name` is what the table calls the names of its rows, `reading`
    is how to read new rows alike, `shown` are the features before they were prepared, and `roles` what was done;
    `pictures` is the shape of the pictures that the rows are.
    """

    X: Any
    names: list[str] | None
    labels: list[Any] | None
    features: list[str] | None = None
    split: list[str] | None = None
    id_name: str = "id"
    reading: Reading | None = None
    shown: Shown | None = None
    roles: Roles | None = None
    pictures: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Reading:
    """How a table was read: `roles` with the features by name, medians of gaps, middle and spread of the columns."""

    roles: Roles
    medians: Any = None
    middle: Any = None
    spread: Any = None
    encoder: Any = None

    def assign(self, table: FileTable, id_column: str | None, path: Any) -> PointTable:
        """Points of another table with the same columns, prepared as those of the first."""
        header = [name.strip() for name in table.header or ()]
        known = self.roles.id_column if self.roles.id_column in header else None
        return assign_roles(table, replace(self.roles, id_column=id_column or known), path, like=self)


def assign_roles(table: FileTable, roles: Roles, path: Any, *, like: Reading | None = None) -> PointTable:
    """Split a table into points, names and classes; the columns are scaled on their own, or `like` those of another.

    >>> table = FileTable(np.array([[1.0, 2.0], [3.0, 4.0]]), [1, 2], {0: ["Ann", "Bob"]}, ["who", "x", "y"])
    >>> assign_roles(table, Roles(id_column="who", drop=("y",)), "people.csv")[:4]
    (array([[1.],
           [3.]]), ['Ann', 'Bob'], None, ['x'])
    """
    if sp.issparse(table.numbers) and table.header is None and replace(roles, chooses=False) == Roles():
        # A small file can claim ten million columns, which no list should hold.
        return PointTable(table.numbers, table.row_names, None)
    labels, label_at = _find_labels(table, roles, path)
    id_at = None if roles.id_column is None else _find(table, roles.id_column, "--id-column", path)
    split_at = None if roles.split_column is None else _find(table, roles.split_column, "--split", path)
    left_out = {_find(table, name, "--drop", path) for name in roles.drop} | {id_at, label_at, split_at}
    what = "--columns" if like is None else MODELS_COLUMN
    wanted = _find_features(table, roles.columns, what, path) or range(table.n_columns)
    features = [at for at in wanted if at not in left_out]
    if id_at is None and table.row_names is None and not roles.columns:
        id_at = _guess_id(table, features, path)
        features = [at for at in features if at != id_at]
    names = table.row_names if id_at is None else _unique_names(table, id_at, path)
    if like is None:
        _warn_doubtful(table, features, path)
    how = ColumnPreparation(roles.scale, roles.impute, roles.encode, roles.chooses)
    found = make_features(table, features, how, path, like)
    features = [at for at in features if at not in found.left_out]
    header = None if table.header is None else [table.header[at].strip() for at in features]
    split = None if split_at is None else [str(cell) for cell in table.column(split_at)]
    id_name = "" if id_at is None or table.header is None else table.header[id_at].strip()
    kept = tuple(str(at + 1) for at in features) if header is None else tuple(header)
    done = {name: getattr(found.preparation, name) for name in ("scale", "impute", "encode")}
    reading = Reading(
        Roles(id_name or None, columns=kept, **done), found.medians, found.middle, found.spread, found.encoder
    )
    dropped = (*roles.drop, *(table.argument_name(at) for at in found.left_out))
    roles = replace(roles, **done, drop=dropped, chooses=False)
    return PointTable(found.X, names, labels, found.names, split, id_name or "id", reading, found.shown, roles)


def _find(table: FileTable, name: str, option: str, path: Any) -> int:
    """The position of a column that an option names, by its name or by its number counted from 1."""
    header = [] if table.header is None else [cell.strip() for cell in table.header]
    if header.count(name) == 1:
        return header.index(name)
    if header.count(name) > 1:
        raise UnusableFile(f"{path}: {header.count(name)} columns are called {quote(name)}; name it by its number.")
    if name.isdecimal() and 1 <= int(name) <= table.n_columns:
        return int(name) - 1
    known = shorten(", ".join(header)) if header else f"no names, only the numbers 1 to {table.n_columns}"
    wrong = "is missing" if option == MODELS_COLUMN else "names no column"
    raise UnusableFile(f"{path}: {option} {quote(name)} {wrong}; the columns have {known}.")


def _find_features(table: FileTable, names: tuple[str, ...], option: str, path: Any) -> list[int]:
    """The positions of these columns, of which there may be thousands."""
    header = [cell.strip() for cell in table.header or ()]
    counts, places = Counter(header), {name: at for at, name in enumerate(header)}
    return [places[name] if counts[name] == 1 else _find(table, name, option, path) for name in names]


def _find_labels(table: FileTable, roles: Roles, path: Any) -> tuple[list[Any] | None, int | None]:
    if roles.label_column is None:
        return None, None
    if roles.label_column in table.row_labels:
        return table.row_labels[roles.label_column], None
    if table.row_labels:
        known = shorten(", ".join(table.row_labels))
        raise UnusableFile(f"{path}: --label-column {quote(roles.label_column)} is none of {known}.")
    at = _find(table, roles.label_column, "--label-column", path)
    return [str(cell) for cell in table.column(at)], at


def _guess_id(table: FileTable, features: list[int], path: Any) -> int | None:
    """The column that can only be an id; None if there is none. A warning says which."""
    texts = [at for at in features if at in table.texts and at not in table.faults]
    for at in texts:
        is_name = len(set(table.texts[at])) == table.n_rows and parse_dates(table.texts[at]) is None
        if is_name and len(features) > 1 and (len(texts) == 1 or table.n_rows >= MIN_ID_ROWS):
            _say_id(table, at, "a different text in every row", path)
            return at
    if len(features) < 2 or table.n_rows < MIN_ID_ROWS:
        return None
    candidates = features[:1] if table.header is None or len(features) > MAX_JUDGED_COLUMNS else features
    for at in candidates:
        values = _whole_numbers(table, at)
        if values is None or len(np.unique(values)) < table.n_rows:
            continue
        name = None if table.header is None else table.header[at].strip()
        counts = np.ptp(values) == table.n_rows - 1
        in_order = counts and bool((np.diff(values) == 1).all())
        is_id = in_order and at == 0 if name is None else counts or at == 0 or ID_NAMES.search(name)
        if is_id:
            _say_id(table, at, "a different whole number in every row", path)
            return at
        if name is not None:
            warnings.warn(
                f"{path}: column {table.name(at)} holds a different whole number in every row and is used as a "
                f"feature; if it is an id, pass --id-column {table.argument(at)}.",
                stacklevel=2,
            )
    return None


def _say_id(table: FileTable, at: int, what: str, path: Any) -> None:
    warnings.warn(
        f"{path}: column {table.name(at)} holds {what} and is taken as the names of the points, not as a feature; to "
        f"use it as a feature, list all features with --columns.",
        stacklevel=2,
    )


def _whole_numbers(table: FileTable, at: int) -> Floats | None:
    if at in table.texts or hasattr(table.numbers, "toarray"):
        return None
    values = np.asarray(table.values(at), dtype=np.float64)
    return values if np.isfinite(values).all() and (values % 1 == 0).all() else None


def _unique_names(table: FileTable, at: int, path: Any) -> list[str]:
    names = [str(cell) for cell in table.column(at)]
    if len(set(names)) < len(names):
        first = next(name for name in names if names.count(name) > 1)
        raise UnusableFile(
            f"{path}: the id column {table.name(at)} holds {quote(first)} more than once; names of points must differ. "
            f"Choose another column, or leave this one out by --drop {table.argument(at)}."
        )
    return names


def _warn_doubtful(table: FileTable, features: list[int], path: Any) -> None:
    """Name features that look like known classes."""
    if table.header is None or hasattr(table.numbers, "toarray"):
        return
    for at in features:
        values = _whole_numbers(table, at) if CLASS_NAMES.search(table.header[at].strip()) else None
        if values is not None and len(np.unique(values)) <= min(MAX_CLASSES, table.n_rows // 2):
            name = table.argument(at)
            warnings.warn(
                f"{path}: column {table.name(at)} looks like known classes, and is used as a feature; pass "
                f"--label-column {name} to compare with it, or --drop {name} to leave it out.",
                stacklevel=2,
            )
