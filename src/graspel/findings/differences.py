"""Differences: what sets groups apart, by the columns of a table or by the words of texts, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graspel.findings.effects import find_effects, holds_terms, measure_means
from graspel.findings.shown import Shown, say_difference
from graspel.findings.table import Table
from graspel.findings.words import find_words
from graspel.runtime.types import Ints

N_DIFFERENCES = 8  # columns or words of each group


def find_differences(groups: Ints, n_groups: int, shown: Shown | None, texts: Sequence[str] | None) -> Table:
    """What sets the groups apart: the words of their texts, or else the columns, the strongest first in each group.

    Returns
    -------
    differences : Table
        With the `group` (its number), the `column` or word, the `effect` (Cohen's d, or the score of the word), what is
        `inside` and `outside` the group (means, or shares of the texts), and all this in `words`.
    """
    if texts is not None:
        found = find_words(texts, groups, n_groups, N_DIFFERENCES)
        columns = {"group": found["group"], "column": found["word"], "effect": found["score"]}
        return Table({**columns, "inside": found["inside"], "outside": found["outside"], "words": found["word"]})
    values = np.zeros((len(groups), 0)) if shown is None else shown.values
    effects = find_effects(measure_means(values, groups, n_groups), N_DIFFERENCES, only_high=holds_terms(values))
    names, words = [], []
    for row in effects.rows():
        assert shown is not None
        name = shown.columns.names[row["feature"]]
        names.append(name)
        words.append(say_difference(name, shown.columns.kinds[row["feature"]], row["inside"], row["outside"]))
    columns = {"group": effects["group"], "column": np.array(names, dtype=object), "effect": effects["effect"]}
    sides = {"inside": effects["inside"], "outside": effects["outside"], "words": np.array(words, dtype=object)}
    return Table({**columns, **sides})
