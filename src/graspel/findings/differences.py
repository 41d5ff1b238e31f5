"""Differences: what sets groups apart, by the columns of a table or by the words of texts, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graspel.findings.effects import Means, find_effects, holds_terms, measure_means
from graspel.findings.shown import Shown, say_difference
from graspel.findings.table import Table
from graspel.findings.words import find_words
from graspel.runtime.types import Ints

N_DIFFERENCES = 8  # columns or words of each group


def find_differences(
    groups: Ints, n_groups: int, shown: Shown | None, texts: Sequence[str] | None, means: Means | None = None
) -> Table:
    """What sets the groups apart: the words of their texts, or else the columns, the strongest first in each group.

    Parameters
    ----------
    groups : array of N, numbers from 0; points numbered `n_groups` or above belong to no group that is described
    n_groups : int
    shown : Shown or None
        The values in the units of the user.
    texts : sequence of N str, or None
    means : Means, optional
        Those of the values, if they are known already.

    Returns
    -------
    differences : Table
        With the `group` (its number), the `column` or word, the `effect` (Cohen's d, or the score of the word), what is
        `inside` and `outside` the group (means, or shares of the texts), all this in `words`, and the column of the
        user's table that it comes from (`source`) with its `kind`.
    """
    if texts is not None:
        found = find_words(texts, groups, n_groups, N_DIFFERENCES)
        columns = {"group": found["group"], "column": found["word"], "effect": found["score"]}
        sides = {"inside": found["inside"], "outside": found["outside"], "words": found["word"]}
        return Table({**columns, **sides, "source": found["word"], "kind": np.full(len(found), "word", dtype=object)})
    values = np.zeros((len(groups), 0)) if shown is None else shown.values
    if shown is None or means is None:
        means = measure_means(values, groups, n_groups)
    effects = find_effects(means, N_DIFFERENCES, only_high=holds_terms(values))
    at = effects["feature"]
    names, kinds, sources = (
        np.array([getattr(shown.columns, name)[j] for j in at.tolist()] if shown is not None else [], dtype=object)
        for name in ("names", "kinds", "sources")
    )
    rows = zip(names, kinds, effects["inside"], effects["outside"], strict=True)
    words = np.array([say_difference(*row) for row in rows], dtype=object)
    columns = {"group": effects["group"], "column": names, "effect": effects["effect"]}
    return Table(
        {
            **columns,
            "inside": effects["inside"],
            "outside": effects["outside"],
            "words": words,
            "source": sources,
            "kind": kinds,
        }
    )
