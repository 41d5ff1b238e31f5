r"""Words: what the texts of a group are about, by the words that they have and the others lack.

A word counts once in each text. With p_tg the share of the texts of group g that have word t, its score is

    score_tg = p_tg log(1 + 1 / sum_h p_th),

the class-based TF-IDF with shares for counts: groups of any size count alike, and a text that repeats a word does not
name its group. No list of stop words is needed, which would be one of a language: a word is one if it is spread
evenly, that is if more than half of the groups have it at half of its usual share or more.

References
----------
M. Grootendorst. BERTopic: Neural topic modeling with a class-based TF-IDF procedure. arXiv:2203.05794, 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.findings.table import Table
from graspel.runtime.types import Floats, Ints

LEAST_TEXTS = 2  # texts that must have a word before it names a group
LEAST_SHARE = 0.05  # of the texts of a group that must have it
SHORTEST_STEM = 3  # letters of a word to which an s makes another form of it
WORD = r"(?u)\b[^\W\d_][\w'-]*\w\b"  # begins with a letter: two characters or more, hyphens and apostrophes inside


def find_words(texts: Sequence[str], groups: Ints, n_groups: int, n_most: int) -> Table:
    """The words that set the texts of each group apart, the best first.

    Parameters
    ----------
    texts : sequence of N str
    groups : array of N, numbers from 0; texts numbered `n_groups` or above belong to no group that is described
    n_groups : int
    n_most : int
        Words of each group.

    Returns
    -------
    words : Table
        With the `group`, the `word`, its `score`, and the share of the texts `inside` the group and `outside` it that
        have the word. A group without words has no rows.

    Examples
    --------
    >>> texts = ["the red fish", "the old fish", "the new car", "the car of all", "a blue car"]
    >>> words = find_words(texts, np.array([0, 0, 1, 1, 1]), 2, 1)
    >>> list(words.rows())[1]
    {'group': 1, 'word': 'car', 'score': 0.69..., 'inside': 1.0, 'outside': 0.0}
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(binary=True, token_pattern=WORD, min_df=LEAST_TEXTS if len(texts) > LEAST_TEXTS else 1)
    try:
        counts = sp.csr_array(vectorizer.fit_transform(texts), dtype=np.float64)
    except ValueError:  # no text has a word
        return _table([], [], [], [], [])
    words = vectorizer.get_feature_names_out()
    n = len(groups)
    total = int(groups.max(initial=0)) + 1
    member = sp.csr_array((np.ones(n), (groups, np.arange(n))), shape=(max(total, n_groups), n))
    having = (member @ counts).toarray()[:n_groups]  # texts of each group that have each word
    usual = np.asarray(counts.sum(axis=0)).ravel()
    size = np.bincount(groups, minlength=n_groups)[:n_groups, None]
    inside, outside = having / np.maximum(size, 1), (usual - having) / np.maximum(n - size, 1)
    scores = inside * np.log1p(1 / np.maximum(inside.sum(axis=0), 1e-12))
    is_even = (inside >= usual / n / 2).mean(axis=0) > 0.5
    scores[:, is_even] = 0.0
    scores[(having < LEAST_TEXTS) & (size >= LEAST_TEXTS)] = 0.0
    scores[inside < LEAST_SHARE] = 0.0
    chosen = [_without_forms(words, np.argsort(-row, kind="stable")[: 3 * n_most], row, n_most) for row in scores]
    at = np.repeat(np.arange(n_groups), list(map(len, chosen))), np.concatenate([*chosen, np.zeros(0, dtype=np.int64)])
    return _table(at[0], words[at[1]], scores[at], inside[at], outside[at])


def _without_forms(words: Any, order: Ints, score: Floats, n_most: int) -> Ints:
    """The first words of an order that have a score, without other forms of a word before them (game, games)."""
    kept: list[int] = []
    for at in order[score[order] > 0].tolist():
        if len(kept) < n_most and not any(_is_form(words[other], words[at]) for other in kept):
            kept.append(at)
    return np.array(kept, dtype=np.int64)


def _is_form(one: str, other: str) -> bool:
    """Whether one word is the plural or the possessive of the other, as far as its end tells.

    >>> _is_form("games", "game"), _is_form("atm", "atm's"), _is_form("car", "card")
    (True, True, False)
    """
    short, long = sorted((one, other), key=len)
    return long.removeprefix(short) in ("s", "es", "'s", "") and len(short) >= SHORTEST_STEM


def _table(group: object, word: object, score: object, inside: object, outside: object) -> Table:
    columns = {"group": np.array(group, dtype=np.int64), "word": np.array(word, dtype=object)}
    shares = {"score": score, "inside": inside, "outside": outside}
    return Table({**columns, **{name: np.array(values, dtype=np.float64) for name, values in shares.items()}})
