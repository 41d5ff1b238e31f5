from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graspel.metrics import clustering_accuracy

pairs_of_labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


def test_a_table_by_hand():
    # Classes a, b of 3 and 3; clusters 0, 1, 2 of 2, 3 and 1; contingency [[2, 1, 0], [0, 2, 1]].
    true, pred = list("aaabbb"), [0, 0, 1, 1, 1, 2]
    assert clustering_accuracy(true, pred) == pytest.approx(4 / 6)


def test_the_greedy_matching_is_not_the_best():
    # Greedy takes the 5 first and is left with 0; the best matching has 4 + 4.
    true = [0] * 9 + [1] * 4
    pred = [0] * 5 + [1] * 4 + [0] * 4
    assert clustering_accuracy(true, pred) == pytest.approx(8 / 13)


@pytest.mark.parametrize(
    ("true", "pred", "accuracy"),
    [([0, 0, 0, 0], [0, 1, 2, 2], 0.5), ([0, 1, 2, 2], [7, 7, 7, 7], 0.5), ([5], ["x"], 1.0), ([0, 1], [0, 0], 0.5)],
)
def test_clusters_without_a_class_are_not_matched(true, pred, accuracy):
    assert clustering_accuracy(true, pred) == accuracy


@given(pairs_of_labels)
def test_accuracy_is_the_best_over_all_matchings(pairs):
    true, pred = np.array(pairs).T
    table = np.zeros((5, 5))
    np.add.at(table, (true, pred), 1)
    best = max(table[range(5), order].sum() for order in permutations(range(5)))
    assert clustering_accuracy(true, pred) == pytest.approx(best / len(true))


@given(pairs=pairs_of_labels, order=st.permutations(range(5)), shuffle=st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(pairs, order, shuffle):
    true, pred = zip(*pairs, strict=True)
    value = clustering_accuracy(true, pred)
    assert clustering_accuracy([f"class {label}" for label in true], [order[label] for label in pred]) == pytest.approx(
        value
    )
    assert clustering_accuracy(pred, true) == pytest.approx(value)
    shuffle.shuffle(pairs)
    assert clustering_accuracy(*zip(*pairs, strict=True)) == pytest.approx(value)


@given(labels=st.lists(st.integers(0, 4), min_size=1, max_size=40), order=st.permutations(range(5)))
def test_a_renaming_is_perfect(labels, order):
    assert clustering_accuracy(labels, [order[label] for label in labels]) == pytest.approx(1.0)


def test_random_labels_share_nothing(rng):
    true, pred = rng.integers(0, 5, (2, 20_000))
    assert clustering_accuracy(true, pred) == pytest.approx(0.2, abs=0.03)


def test_arrays_lists_and_mixed_labels_are_the_same():
    true = [0, 1, 1, 2]
    for same in (np.array(true), np.array(true, dtype=np.uint8), tuple(true), np.array(list("abbc"))):
        assert clustering_accuracy(same, ["x", None, None, (1, 2)]) == pytest.approx(1.0)
    assert clustering_accuracy([np.int64(3), 3, 4.0], [0, 0, 1]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("true", "pred", "words"),
    [
        ([], [], r"labels_true=\[\] is empty: must have one label for each point"),
        ([1], [], r"labels_pred=\[\] is empty"),
        ([1, 2, 3], [1, 2], "labels_true has 3 labels and labels_pred has 2: both must have one for each point"),
        (np.zeros((3, 2)), [1, 2, 3], r"labels_true has shape \(3, 2\): must be one-dimensional"),
        ([1, 2], [[1], [2]], "labels_pred.*numbers or strings"),
        (3, [1], "labels_true=3: must be a sequence"),
    ],
)
def test_wrong_labels_are_refused(true, pred, words):
    with pytest.raises(ValueError, match=words):
        clustering_accuracy(true, pred)
