"""Features: the columns of a table that are compared, as one matrix of numbers, and as the user knows them.

Without an option the columns must be numbers of one scale: text and missing cells are refused in one message that names
them all, and very different scales are named in a warning. Preparations are asked for, or chosen where the caller says
so (`ColumnPreparation.chooses`): a page about the data is wanted in one go, and says what was done.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graspel.io.checks import UnusableFile
from graspel.io.columns import CATEGORY, FLAG_WORDS, Column, Shown, TableColumns, make_column
from graspel.io.encoder import (
    IMPUTATIONS,
    MAX_CATEGORIES,
    SCALES,
    TableEncoder,
    find_medians,
    find_scales,
    warn_uneven_scales,
)
from graspel.io.table import MISSING, FileTable
from graspel.runtime.parameters import check_choice
from graspel.runtime.shown import quote

ENCODINGS = ("onehot",)
SHOWN = 3  # words of a column of text that an error shows
CHOSEN_SCALE = "robust"  # an outlier, which a report looks for, hardly changes it


@dataclass(frozen=True)
class ColumnPreparation:
    """What is done to the columns; "none" says that something is not chosen either.

    Attributes
    ----------
    scale : "standard", "robust", "none" or None
    impute : "median", "keep" (missing values stay NaN, for whoever fills them), "none" or None
    encode : "onehot", "none" or None
    chooses : bool, whether what is needed and None is chosen
    """

    scale: str | None = None
    impute: str | None = None
    encode: str | None = None
    chooses: bool = False

    def check(self) -> None:
        """Raise where a value is not known."""
        for name, known in (("scale", SCALES), ("impute", (*IMPUTATIONS, "keep")), ("encode", ENCODINGS)):
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), (*known, "none"))

    def does(self, name: str) -> str | None:
        """What is done in one respect; None for nothing."""
        value: str | None = getattr(self, name)
        return None if value == "none" else value


@dataclass(frozen=True)
class FeatureColumns:
    """The features of a table.

    Attributes
    ----------
    X : matrix of numbers (N x M)
    names : list of M str, or None
    shown : Shown or None, their values before they were prepared; None where nothing more than X is known
    preparation : ColumnPreparation, what was done
    left_out : positions of columns that were left out here
    medians, middle, spread : arrays or None, what replaced gaps, was subtracted, and divided by
    encoder : TableEncoder or None, who did all this where there are categories
    """

    X: Any
    names: list[str] | None
    shown: Shown | None
    preparation: ColumnPreparation
    left_out: tuple[int, ...] = ()
    medians: Any = None
    middle: Any = None
    spread: Any = None
    encoder: Any = None


def make_features(
    table: FileTable, wanted: list[int], how: ColumnPreparation, path: Any, like: Any = None
) -> FeatureColumns:
    """The features of a table, prepared as the user says, or `like` those of a model (a `Reading`)."""
    how.check()
    left_out: tuple[int, ...] = ()
    if how.chooses:
        left_out = tuple(at for at in wanted if at in table.texts and _is_free_text(table, at))
        wanted = [at for at in wanted if at not in left_out] or wanted
        how = _choose(table, wanted, how)
        _say_choice(table, left_out, how, path)
    if how.does("encode"):
        return replace(_encode(table, wanted, how, path, like), left_out=left_out)
    raw = X = _take_numbers(table, wanted, path)
    medians = middle = spread = None
    is_dense = not hasattr(raw, "toarray")  # what a sparse matrix does not list is zero, not missing
    if how.does("impute") == "median" and is_dense:
        medians = find_medians(X) if like is None else like.medians
        X = np.where(np.isnan(X), medians, X)
    elif how.does("impute") and is_dense and like is None:
        find_medians(X)  # raises for a column without values
    elif how.does("impute") is None and table.has_gaps:
        _refuse_missing(table, wanted, path)
    names = None if table.header is None else [table.header[at].strip() for at in wanted]
    scale, shown = how.does("scale"), None
    if names is not None or X is not raw or scale:
        called = names or [f"feature {at}" for at in range(raw.shape[1])]
        cells = [Column(name, raw[:, j]) for j, name in enumerate(called)] if is_dense else []
        shown = Shown(X, TableColumns(called), cells)
    if scale:
        X = np.asarray(X if is_dense else X.toarray(), dtype=np.float64)
        middle, spread = find_scales(X, scale) if like is None else (like.middle, like.spread)
        X = (X - middle) / spread
    elif names is not None and like is None:
        warn_uneven_scales(X, [table.name(at) for at in wanted], f"{path}: ", "pass --scale standard")
    return FeatureColumns(X, names, shown, how, left_out, medians, middle, spread)


def _encode(table: FileTable, wanted: list[int], how: ColumnPreparation, path: Any, like: Any) -> FeatureColumns:
    columns = [_read_column(table, at) for at in wanted]
    for at, column in zip(wanted, columns, strict=True):
        if at in table.faults and len(column.words) > min(MAX_CATEGORIES, table.n_rows // 2):
            raise UnusableFile(table.faults[at])
    if how.does("impute") == "keep":
        raise UnusableFile(f"{path}: --impute graph fills numbers alone, not beside --encode; pass --impute median.")
    try:
        encoder = (
            TableEncoder(how.does("scale"), how.does("impute")).fit_columns(columns) if like is None else like.encoder
        )
        X, shown = encoder.encode(columns), encoder.show_columns(columns)
    except ValueError as error:
        hint = "" if how.does("impute") or "empty" not in str(error) else " (--impute median)"
        raise UnusableFile(f"{path}: {str(error).rstrip('.')}{hint}.") from None
    if not how.does("scale") and like is None:
        warn_uneven_scales(X, shown.columns.names, f"{path}: ", "pass --scale robust")
    return FeatureColumns(X, shown.columns.names, shown, how, encoder=encoder)


def _read_column(table: FileTable, at: int) -> Column:
    """A column of the table with its name, or its number, counted from 1."""
    named = "" if table.header is None else table.header[at].strip()
    name = named or f"column {at + 1}"
    if at not in table.texts:
        values = table.values(at).astype(np.float64)
        return Column(name, values, CATEGORY, FLAG_WORDS) if at in table.flags else Column(name, values)
    return make_column(name, ["" if cell.lower() in MISSING else cell for cell in table.texts[at]])


def _is_free_text(table: FileTable, at: int) -> bool:
    """Whether a column of text holds something else than categories, dates and faults."""
    column = _read_column(table, at)
    return at not in table.faults and len(column.words) > min(MAX_CATEGORIES, max(2, table.n_rows // 2))


def _choose(table: FileTable, wanted: list[int], how: ColumnPreparation) -> ColumnPreparation:
    """The preparations that the table needs, where the user has said nothing."""
    if hasattr(table.numbers, "toarray") or table.header is None:
        return how
    if how.encode is None and any(at in table.texts or at in table.flags for at in wanted):
        how = replace(how, encode="onehot")
    numbers = [at for at in wanted if at not in table.texts]
    is_encoded = how.does("encode") is not None
    columns = [_read_column(table, at) for at in (wanted if is_encoded else numbers)]
    if how.impute is None and any(column.kind != CATEGORY and column.n_missing for column in columns):
        how = replace(how, impute="median")
    if how.scale is None and (is_encoded or _is_uneven(columns)):
        how = replace(how, scale=CHOSEN_SCALE)
    return how


def _is_uneven(columns: Sequence[Column]) -> bool:
    from graspel.io.encoder import find_uneven

    if not columns:
        return False
    X = np.column_stack([column.values for column in columns])
    return (
        bool(find_uneven(np.where(np.isnan(X), np.nanmean(X, axis=0), X)))
        if not np.isnan(X).all(axis=0).any()
        else False
    )


def _say_choice(table: FileTable, left_out: tuple[int, ...], how: ColumnPreparation, path: Any) -> None:
    """Warn of what was chosen, in the words that choose otherwise."""
    if left_out:
        names = ", ".join(table.name(at) for at in left_out)
        warnings.warn(f"{path}: {names} holds a different text in most rows and is left out.", stacklevel=2)
    done = [f"--{name} {how.does(name)}" for name in ("encode", "impute", "scale") if how.does(name)]
    if done:
        warnings.warn(
            f"{path}: the columns were prepared by {' '.join(done)}; give these options yourself to choose otherwise.",
            stacklevel=2,
        )


def _take_numbers(table: FileTable, features: list[int], path: Any) -> Any:
    """The columns that are features, as a matrix; raise where some of them are text."""
    for at in features:
        if at in table.faults:
            raise UnusableFile(table.faults[at])
    texts = [at for at in features if at in table.texts]
    if texts:
        raise UnusableFile(f"{path}: {_describe_texts(table, texts)}")
    if not features:
        raise UnusableFile(f"{path}: no column is left for the features; give at least one column of numbers.")
    if features == list(table.positions):
        return table.numbers
    place = {at: place for place, at in enumerate(table.positions)}
    return table.numbers[:, [place[at] for at in features]]


def _describe_texts(table: FileTable, texts: list[int]) -> str:
    """What is wrong with columns of text, all at once, and what to do."""
    said = []
    for at in texts:
        words = sorted(set(table.texts[at]))
        said.append(
            f"{table.name(at)} holds text ({', '.join(map(quote, words[:SHOWN]))}{', ...' * (len(words) > SHOWN)})"
        )
    name = table.argument(texts[0]) if len(texts) == 1 else "COLUMN"
    return (
        f"column {', '.join(said)}, and features are numbers; pass --encode onehot to compare categories and dates, "
        f"--label-column {name} for known classes, --id-column {name} for names of the points, or --drop "
        f"{','.join(table.argument(at) for at in texts)} to leave {'it' if len(texts) == 1 else 'them'} out."
    )


def _refuse_missing(table: FileTable, features: list[int], path: Any) -> None:
    """Raise if a feature has a missing value; name the first, and all columns that have some."""
    places = [place for place, at in enumerate(table.positions) if at in set(features)]
    is_gap = np.isnan(np.asarray(table.numbers[:, places], dtype=np.float64))
    if not is_gap.any():
        return
    row, first = (int(k) for k in np.argwhere(is_gap)[0])
    at = table.positions[places[first]]
    place = f"row {row}" if table.lines is None else f"line {table.lines[row]}"
    others = [table.name(table.positions[places[j]]) for j in np.flatnonzero(is_gap.any(axis=0)) if j != first]
    more = f" (and so are cells of {', '.join(others)})" if others else ""
    raise UnusableFile(
        f"{path}, {place}, column {at + 1}{'' if table.header is None else f' ({table.name(at)})'}: the cell is empty"
        f"{more}; fill it in, remove this line or column, or pass --impute graph (or median)."
    )
