"""Names of rows: the index of a DataFrame, if it is more than a count of the rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray


def find_row_names(X: Any) -> NDArray[np.str_] | None:
    """Return the names of the rows of a DataFrame; None if it has none, or if it only counts them from 0.

    >>> import pandas as pd
    >>> find_row_names(pd.DataFrame({"x": [1.0, 2.0]}, index=["Ann", "Bob"]))
    array(['Ann', 'Bob'], dtype='<U3')
    >>> find_row_names(pd.DataFrame({"x": [1.0, 2.0]}))
    """
    if not (hasattr(X, "columns") and hasattr(X, "index")):
        return None
    labels = np.asarray(X.index)
    if labels.ndim != 1 or (labels.dtype.kind in "iu" and np.array_equal(labels, np.arange(len(labels)))):
        return None
    names = np.array([str(label) for label in labels.tolist()], dtype=np.str_)
    if len(np.unique(names)) < len(names):
        warnings.warn(
            "the index of X has repeated labels, which cannot be the names of nodes; nodes are numbered instead. "
            "Make the index unique, or call X.reset_index(drop=True).",
            stacklevel=3,
        )
        return None
    return names
