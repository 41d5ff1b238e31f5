r"""The table encoder: numbers of any unit, categories, true and false, and dates as one matrix of numbers.

Between rows of this matrix the Euclidean distance is one for mixed data, in which one differing category counts as one
differing number: the median squared difference of two normal numbers of unit variance is 2 q^2, with q = .6745 their
upper quartile. A category becomes one column of 0 and q for each of its values, and rows of different categories differ
in two of these. True and false need one column, of 0 and sqrt(2) q. A missing category is 0 in all columns, half as far
from the others. Dates are days. (The mean squared difference, 2, would count categories too much: points that are near
each other differ little in their numbers, so that their neighbors would be chosen by the categories alone. Gower's
distance, too, counts each column once, but by the range of its numbers, which one outlier sets.)

Imputing, scaling and encoding are done by scikit-learn.

References
----------
J. C. Gower. A general coefficient of similarity and some of its properties. Biometrics 27, 1971.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from graspel.io.columns import CATEGORY, FLAG_WORDS, Column, Shown, TableColumns, read_columns
from graspel.runtime.parameters import check_choice
from graspel.runtime.shown import quote
from graspel.runtime.types import Floats

SCALES = ("standard", "robust")
IMPUTATIONS = ("median",)
UNEVEN = (
    20.0  # ratio of a column's spread to the median one above which it decides all distances; inverse: hardly counts
)
MAX_JUDGED_COLUMNS = 200  # columns of a table whose scales are judged; more are pixels or genes, which share one unit
NAMED = 3  # columns that a warning names
HEIGHT = 0.6745  # of the columns of categories, in standard deviations of numbers: the upper quartile of a normal
MAX_CATEGORIES = 50  # different words of a column; of more, each says little about a row


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Numbers of any unit, categories, true and false, and dates as numbers that are compared fairly.

    The Euclidean distance between the rows of what it returns is a mixed distance: a different category counts as much
    as a difference between numbers usually does.

    Parameters
    ----------
    scale : {"robust", "standard"} or None, default="robust"
        How columns of numbers and dates come to one scale: by median and quartiles, by mean and standard deviation, or
        not at all.
    impute : "median" or None, default="median"
        What replaces missing numbers; None refuses them. A missing category is as far from all categories.

    Attributes
    ----------
    columns_ : list of the columns of the table, with their kinds and categories

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 45, 62], "city": ["Lyon", "Nice", "Lyon"], "paid": [True, False, True]})
    >>> encoder = TableEncoder(scale="standard")
    >>> encoder.fit_transform(table).round(2)
    array([[-1.18,  0.67,  0.  ,  0.95],
           [-0.08,  0.  ,  0.67,  0.  ],
           [ 1.26,  0.67,  0.  ,  0.95]])
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'city = Lyon', 'city = Nice', 'paid = true']
    """

    def __init__(self, scale: str | None = "robust", impute: str | None = "median") -> None:
        self.scale = scale
        self.impute = impute

    def __sklearn_tags__(self) -> Any:
        """It takes tables, and no arrays: an array has no kinds of columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn categories, medians and scales from a table of pandas, polars or Arrow."""
        return self.fit_columns(read_columns(_check_table(X)))

    def transform(self, X: Any) -> Floats:
        """The rows of a table as numbers."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "columns_")
        return self.encode(read_columns(_check_table(X)))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The name of each column of the result."""
        return np.array(self._describe().names, dtype=object)

    def show(self, X: Any) -> Shown:
        """The values of a table in the units of the user, as findings and the report show them."""
        return self.show_columns(read_columns(_check_table(X)))

    def fit_columns(self, columns: Sequence[Column]) -> TableEncoder:
        """The same as `fit`, from columns."""
        if self.scale is not None:
            check_choice("scale", self.scale, SCALES)
        if self.impute is not None:
            check_choice("impute", self.impute, IMPUTATIONS)
        _refuse_many_words(columns)
        self.columns_ = [Column(c.name, np.zeros(0), c.kind, c.words) for c in columns]
        given = self._numbers(columns)
        self._medians = (
            None if self.impute is None else find_medians(given, [c.name for c in columns if c.kind != CATEGORY])
        )
        numbers = self._impute_with(columns)
        self._middle, self._spread = find_scales(numbers, self.scale)
        spread = numbers.std(axis=0)
        usual = float(np.median(spread[spread > 0])) if self.scale is None and (spread > 0).any() else 1.0
        self._height = HEIGHT * usual
        return self

    def encode(self, columns: Sequence[Column]) -> Floats:
        """The columns of a table as numbers, in the order of the table."""
        self._check_columns(columns)
        numbers = self._impute_with(columns)
        scaled = (numbers - self._middle) / self._spread
        return self._assemble(columns, scaled, self._height, np.sqrt(2) * self._height)

    def show_columns(self, columns: Sequence[Column]) -> Shown:
        """The same as `show`, from columns."""
        self._check_columns(columns)
        values = self._assemble(columns, self._impute_with(columns))
        return Shown(values, self._describe(), list(columns))

    def _assemble(
        self, columns: Sequence[Column], numbers: Floats, height: float = 1, flag_height: float = 1
    ) -> Floats:
        """The columns of numbers, and a column for each category."""
        from sklearn.preprocessing import OneHotEncoder

        given = self._categories(columns)
        encoded = np.zeros((len(numbers), 0))
        if given:
            words = [list(c.words) for c in self._categories(self.columns_)]
            onehot = OneHotEncoder(categories=words, handle_unknown="ignore", sparse_output=False)
            encoded = onehot.fit_transform(_words_of(given))
        parts, at, code = [], 0, 0
        for column in self.columns_:
            if column.kind != CATEGORY:
                parts.append(numbers[:, [at]])
                at += 1
                continue
            block = encoded[:, code : code + len(column.words)]
            code += len(column.words)
            parts.append(flag_height * block[:, 1:] if is_flag(column) else height * block)
        return np.hstack(parts)

    def _describe(self) -> TableColumns:
        names, kinds, sources = [], [], []
        for column in self.columns_:
            shown = [""] if column.kind != CATEGORY else [f" = {word}" for word in column.words[is_flag(column) :]]
            names += [f"{column.name}{word}" for word in shown]
            kinds += [column.kind] * len(shown)
            sources += [column.name] * len(shown)
        return TableColumns(names, kinds, sources)

    def _categories(self, columns: Sequence[Column]) -> list[Column]:
        return [column for column in columns if column.kind == CATEGORY]

    def _numbers(self, columns: Sequence[Column]) -> Floats:
        """The columns of numbers as a matrix."""
        given = [np.asarray(column.values, dtype=np.float64) for column in columns if column.kind != CATEGORY]
        return np.column_stack(given) if given else np.zeros((len(columns[0].values), 0))

    def _impute_with(self, columns: Sequence[Column]) -> Floats:
        """The columns of numbers as a matrix, missing ones replaced."""
        X = self._numbers(columns)
        if self._medians is None:
            refuse_gaps(columns)
            return X
        return np.where(np.isnan(X), self._medians, X)

    def _check_columns(self, columns: Sequence[Column]) -> None:
        known = {column.name: column for column in self.columns_}
        if [column.name for column in columns] != list(known):
            raise ValueError(
                f"the table has the columns {', '.join(c.name for c in columns)}; fit() saw {', '.join(known)}."
            )
        for column in columns:
            if column.kind != known[column.name].kind and column.n_missing < len(column.values):
                raise ValueError(
                    f"column {quote(column.name)} holds a {column.kind}; it held a {known[column.name].kind} in fit()."
                )


def _check_table(X: Any) -> Any:
    if not (hasattr(X, "columns") or hasattr(X, "column_names")):
        raise ValueError(
            f"X is of type {type(X).__name__}: must be a table of pandas, polars or Arrow, with named columns."
        )
    return X


def is_flag(column: Column) -> bool:
    """Whether a column holds true and false."""
    return tuple(column.words) == FLAG_WORDS


def _words_of(columns: Sequence[Column]) -> Any:
    """The cells of categories as a matrix of words; a missing one is a word that no category is."""
    cells = []
    for column in columns:
        words = np.array([*column.words, "\0"], dtype=object)
        cells.append(words[np.nan_to_num(column.values, nan=len(column.words)).astype(np.int64)])
    return np.column_stack(cells)


def _refuse_many_words(columns: Sequence[Column]) -> None:
    wide = [column for column in columns if len(column.words) > MAX_CATEGORIES]
    if wide:
        said = ", ".join(f"{quote(column.name)} ({len(column.words):,})" for column in wide)
        raise ValueError(
            f"more than {MAX_CATEGORIES} different words, which are names or free text rather than categories: {said}; "
            f"leave {'it' if len(wide) == 1 else 'them'} out."
        )


def refuse_gaps(columns: Sequence[Column]) -> None:
    """Raise if numbers are missing; name all columns."""
    gaps = [
        f"{quote(column.name)} ({column.n_missing:,})"
        for column in columns
        if column.kind != CATEGORY and column.n_missing
    ]
    if gaps:
        raise ValueError(
            f"cells are empty in {', '.join(gaps)}; fill them in, leave these rows or columns out, or impute medians."
        )


def find_medians(X: Any, names: Sequence[str] | None = None) -> Floats:
    """The median of each column, without its missing values."""
    from sklearn.impute import SimpleImputer

    X = np.asarray(X, dtype=np.float64)
    empty = np.isnan(X).all(axis=0)
    if empty.any():
        at = int(np.argmax(empty))
        name = f"feature {at + 1}" if names is None else f"column {quote(names[at])}"
        raise ValueError(f"{name} has no value at all to fill others by; drop it.")
    medians: Floats = SimpleImputer(strategy="median").fit(X).statistics_ if X.shape[1] else np.zeros(0)
    return medians


def find_scales(X: Floats, scale: str | None) -> tuple[Floats, Floats]:
    """What to subtract from each column, and by what to divide it; columns without spread become zero.

    "standard" takes mean and standard deviation, "robust" median and interquartile range (the standard deviation,
    where the range is zero), None leaves the columns as they are. Missing values are left out.

    >>> find_scales(np.array([[1.0, 5.0], [3.0, 5.0]]), "standard")
    (array([2., 5.]), array([1., 1.]))
    """
    from sklearn.preprocessing import RobustScaler, StandardScaler

    if scale is None or not X.shape[1]:
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    standard = StandardScaler().fit(X)
    if scale == "standard":
        return standard.mean_, standard.scale_
    robust = RobustScaler(unit_variance=True).fit(X)
    low, high = np.nanpercentile(X, [25, 75], axis=0)
    return robust.center_, np.where(high > low, robust.scale_, standard.scale_)


def find_uneven(X: Any) -> list[tuple[int, float]]:
    """The columns whose spread is very different from the usual one, each with its ratio to it, the farthest first.

    >>> find_uneven(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 100.0]]))
    [(2, 100.0)]
    """
    if hasattr(X, "toarray") or not 2 <= X.shape[1] <= MAX_JUDGED_COLUMNS:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.nanstd(np.asarray(X, dtype=np.float64), axis=0)
    if not np.isfinite(spread).all() or not (spread > 0).any():
        return []
    ratio = spread / np.median(spread[spread > 0])
    reach = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)  # of pixels that are mostly empty it is not small
    is_small = reach < np.median(reach[reach > 0]) / UNEVEN
    off = np.where((ratio > 1) | is_small, np.abs(np.log(np.where(ratio > 0, ratio, 1.0))), 0.0)
    order = np.argsort(-off, kind="stable")[: int((off > np.log(UNEVEN)).sum())]
    return [(int(at), float(ratio[at])) for at in order]


def warn_uneven_scales(X: Any, names: Sequence[str], where: str, remedy: str) -> None:
    """Name the columns whose spread is so large that they decide all distances, or so small that they hardly count."""
    uneven = find_uneven(X)
    for words, some in (
        ("much larger than usual and decides all distances", [one for one in uneven if one[1] > 1]),
        ("much smaller than usual, so that they hardly count", [one for one in uneven if one[1] < 1]),
    ):
        if some:
            shown = ", ".join(
                f"{names[at]} ({f'{r:.0f}' if r > 1 else f'1/{1 / r:.0f}'} times)" for at, r in some[:NAMED]
            )
            warnings.warn(
                f"{where}the spread of some columns is {words}: {shown}. If the columns are in different units, "
                f"{remedy}.",
                stacklevel=3,
            )
