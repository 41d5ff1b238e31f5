"""Roles of the columns of a table: which are features, which one names the points, which one holds known classes.

The user says it (:class:`Roles`). Where nothing is said, a column that can only be an id is taken as one, with a
warning that says so, and everything else that is doubtful is refused or named in a warning: an id, a class or a price
in dollars beside shares in percent that counts as a feature gives a wrong graph without an error.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graspel.io.errors import UnusableFile
from graspel.io.table import Table
from graspel.io.table_values import (
    MAX_JUDGED_COLUMNS,
    check_choices,
    impute_missing,
    scale_columns,
    warn_uneven_scales,
)
from graspel.runtime.shown import quote, shorten

__all__ = ["PointTable", "Roles", "assign_roles"]

MIN_ID_ROWS = 10  # rows from which different whole numbers look like an id; fewer may differ by chance
MAX_CLASSES = 50  # largest number of different values of a column that is named like a class and looks like one
ID_NAMES = re.compile(r"(^|[\W_])(ids?|idx|index|nr|no|number|key|code|row|uid|unnamed: 0)($|[\W_])|^$", re.IGNORECASE)
CLASS_NAMES = re.compile(r"^(y|class(es)?|labels?|target|category|species|cluster|group)$", re.IGNORECASE)
SHOWN_WORDS = 3  # words of a column of text that an error shows


@dataclass(frozen=True)
class Roles:
    """What the user says about the columns; the options of the command line of the same names.

    Attributes
    ----------
    id_column, label_column : str or None, name of a column, or its number counted from 1
    columns : list of str or None, the features; all others are left out
    drop : list of str, columns to leave out
    scale : "standard", "robust" or None
    impute : "median" or None
    """

    id_column: str | None = None
    label_column: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    scale: str | None = None
    impute: str | None = None


class PointTable(NamedTuple):
    """The points of a table: features, the names of the rows, their known classes, and the names of the features.

    None stands for what the table does not have.
    """

    X: Any
    names: list[str] | None
    labels: list[Any] | None
    features: list[str] | None = None


def assign_roles(table: Table, roles: Roles, path: Any) -> PointTable:
    """Split a table into points, names and classes.

    >>> table = Table(np.array([[1.0, 2.0], [3.0, 4.0]]), [1, 2], {0: ["Ann", "Bob"]}, ["who", "x", "y"])
    >>> assign_roles(table, Roles(id_column="who", drop=("y",)), "people.csv")
    PointTable(X=array([[1.],
           [3.]]), names=['Ann', 'Bob'], labels=None, features=['x'])
    """
    check_choices(roles.scale, roles.impute)
    if sp.issparse(table.numbers) and table.header is None and roles == Roles():
        # A small file can claim ten million columns, which no list should hold.
        return PointTable(table.numbers, table.row_names, None)
    labels, label_at = _find_labels(table, roles, path)
    id_at = None if roles.id_column is None else _find(table, roles.id_column, "--id-column", path)
    left_out = {_find(table, name, "--drop", path) for name in roles.drop} | {id_at, label_at}
    wanted = [_find(table, name, "--columns", path) for name in roles.columns] or range(table.n_columns)
    features = [at for at in wanted if at not in left_out]
    if id_at is None and table.row_names is None and not roles.columns:
        id_at = _guess_id(table, features, path)
        features = [at for at in features if at != id_at]
    names = table.row_names if id_at is None else _unique_names(table, id_at, path)
    X = _feature_matrix(table, features, path)
    if roles.impute is not None:
        X = impute_missing(X)
    elif table.missing is not None:
        _refuse_missing(table, set(features), path)
    _warn_doubtful(table, features, path)
    if roles.scale is not None:
        X = scale_columns(X, roles.scale)
    elif table.header is not None:
        warn_uneven_scales(X, [table.name(at) for at in features], path)
    header = None if table.header is None else [table.header[at].strip() for at in features]
    return PointTable(X, names, labels, header)


def _find(table: Table, name: str, option: str, path: Any) -> int:
    """The position of a column that an option names, by its name or by its number counted from 1."""
    header = [] if table.header is None else [cell.strip() for cell in table.header]
    if header.count(name) == 1:
        return header.index(name)
    if header.count(name) > 1:
        raise UnusableFile(f"{path}: {header.count(name)} columns are called {quote(name)}; name it by its number.")
    if name.isdecimal() and 1 <= int(name) <= table.n_columns:
        return int(name) - 1
    known = shorten(", ".join(header)) if header else f"no names, only the numbers 1 to {table.n_columns}"
    raise UnusableFile(f"{path}: {option} {quote(name)} names no column; the columns have {known}.")


def _find_labels(table: Table, roles: Roles, path: Any) -> tuple[list[Any] | None, int | None]:
    if roles.label_column is None:
        return None, None
    if roles.label_column in table.row_labels:
        return table.row_labels[roles.label_column], None
    if table.row_labels:
        known = shorten(", ".join(table.row_labels))
        raise UnusableFile(f"{path}: --label-column {quote(roles.label_column)} is none of {known}.")
    at = _find(table, roles.label_column, "--label-column", path)
    return [str(cell) for cell in table.column(at)], at


def _guess_id(table: Table, features: list[int], path: Any) -> int | None:
    """The column that can only be an id; None if there is none. A warning says which."""
    texts = [at for at in features if at in table.texts]
    words = table.texts[texts[0]] if len(texts) == 1 and texts[0] not in table.faults else []
    if len(features) > 1 and len(set(words)) == table.n_rows:
        _say_id(table, texts[0], "a different text in every row", path)
        return texts[0]
    if texts or len(features) < 2 or table.n_rows < MIN_ID_ROWS:
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
                f"feature; if it is an id, pass --id-column {_argument(table, at)}.",
                stacklevel=2,
            )
    return None


def _say_id(table: Table, at: int, what: str, path: Any) -> None:
    warnings.warn(
        f"{path}: column {table.name(at)} holds {what} and is taken as the names of the points, not as a feature; to "
        f"use it as a feature, list all features with --columns.",
        stacklevel=2,
    )


def _whole_numbers(table: Table, at: int) -> NDArray[np.float64] | None:
    if at in table.texts or hasattr(table.numbers, "toarray"):
        return None
    values = np.asarray(table.numbers[:, table.positions.index(at)], dtype=np.float64)
    return values if np.isfinite(values).all() and (values % 1 == 0).all() else None


def _unique_names(table: Table, at: int, path: Any) -> list[str]:
    names = [str(cell) for cell in table.column(at)]
    if len(set(names)) < len(names):
        first = next(name for name in names if names.count(name) > 1)
        raise UnusableFile(
            f"{path}: the id column {table.name(at)} holds {quote(first)} more than once; names of points must differ. "
            f"Choose another column, or leave this one out by --drop {_argument(table, at)}."
        )
    return names


def _feature_matrix(table: Table, features: list[int], path: Any) -> Any:
    """The columns that are features, as a matrix; raise where one of them is text."""
    for at in features:
        if at in table.faults:
            raise UnusableFile(table.faults[at])
        if at in table.texts:
            words = sorted(set(table.texts[at]))
            shown = ", ".join(quote(word) for word in words[:SHOWN_WORDS])
            name = _argument(table, at)
            raise UnusableFile(
                f"{path}: column {table.name(at)} holds text ({shown}{', ...' if len(words) > SHOWN_WORDS else ''}), "
                f"and features are numbers; pass --label-column {name} if these are known classes, --id-column {name} "
                f"if they name the points, or --drop {name} to leave the column out."
            )
    if not features:
        raise UnusableFile(f"{path}: no column is left for the features; give at least one column of numbers.")
    if features == list(table.positions):
        return table.numbers
    place = {at: place for place, at in enumerate(table.positions)}
    return table.numbers[:, [place[at] for at in features]]


def _refuse_missing(table: Table, features: set[int], path: Any) -> None:
    """Raise if a feature has a missing value; name the first."""
    assert table.missing is not None
    row, at = table.missing
    if at not in features:
        gaps = np.argwhere(np.isnan(np.asarray(table.numbers, dtype=np.float64)))
        inside = [(int(r), table.positions[int(c)]) for r, c in gaps if table.positions[int(c)] in features]
        if not inside:
            return
        row, at = inside[0]
    place = f"row {row}" if table.lines is None else f"line {table.lines[row]}"
    raise UnusableFile(
        f"{path}, {place}, column {at + 1}{'' if table.header is None else f' ({table.name(at)})'}: the cell is empty; "
        "fill it in, remove this line or column, or pass --impute median."
    )


def _warn_doubtful(table: Table, features: list[int], path: Any) -> None:
    """Name features that look like known classes."""
    if table.header is None or hasattr(table.numbers, "toarray"):
        return
    for at in features:
        values = _whole_numbers(table, at) if CLASS_NAMES.search(table.header[at].strip()) else None
        if values is not None and len(np.unique(values)) <= min(MAX_CLASSES, table.n_rows // 2):
            name = _argument(table, at)
            warnings.warn(
                f"{path}: column {table.name(at)} looks like known classes, and is used as a feature; pass "
                f"--label-column {name} to compare with it, or --drop {name} to leave it out.",
                stacklevel=2,
            )


def _argument(table: Table, at: int) -> str:
    """How the user names a column on the command line."""
    name = "" if table.header is None else table.header[at].strip()
    if not name:
        return str(at + 1)
    return f"'{name}'" if re.search(r"[^\w.-]", name) else name
