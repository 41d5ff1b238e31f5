"""Checks of parameters: what is allowed passes, anything else is refused by its name."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.runtime.parameters import check_choice, check_flag, check_number, generator


@pytest.mark.parametrize("value", [1, np.int32(3), np.uint8(200)])
def test_whole_numbers_of_all_kinds_pass(value):
    check_number("k", value, ">= 1", lambda v: v >= 1, whole=True)


@pytest.mark.parametrize("value", [0, -1, 1.0, 1.5, "1", None, True, np.bool_(True), np.nan, [1]])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^k=.*: must be a whole number >= 1\. A hint\.$"):
        check_number("k", value, ">= 1", lambda v: v >= 1, whole=True, hint="A hint.")


@pytest.mark.parametrize("value", [0.5, 1, np.float32(0.1), np.int64(1)])
def test_numbers_of_all_kinds_pass(value):
    check_number("x", value, "in (0, 1]", lambda v: 0 < v <= 1)


@pytest.mark.parametrize("value", [0.0, -1, np.nan, np.inf, "0.5", None, False, 1j, np.array([0.5, 0.5])])
def test_what_is_no_number_in_range_is_refused(value):
    with pytest.raises(ValueError, match=r"^x=[\s\S]*: must be a number in \(0, 1\]\.$"):
        check_number("x", value, "in (0, 1]", lambda v: 0 < v <= 1)


def test_choices():
    check_choice("metric", "a", {"a": 1, "b": 2})
    for value in ("c", None, 1, ["a"]):
        with pytest.raises(ValueError, match=r"^metric=.*: must be one of 'a', 'b'\.$"):
            check_choice("metric", value, {"a": 1, "b": 2})


def test_flags():
    check_flag("noise", True)
    check_flag("noise", np.bool_(False))
    for value in (0, 1, "yes", None):
        with pytest.raises(ValueError, match=r"^noise=.*: must be True or False\.$"):
            check_flag("noise", value)


def test_the_same_seed_gives_the_same_numbers():
    assert generator(3).random() == generator(np.int64(3)).random()
    assert generator(3).random() != generator(4).random()
    assert generator(None).random() != generator(None).random()


def test_a_generator_and_a_random_state_move_on():
    for source in (np.random.default_rng(0), np.random.RandomState(0)):
        assert generator(source).random() != generator(source).random()


@pytest.mark.parametrize("value", [-1, 2**32, 1.0, "0", True, [0]])
def test_what_is_no_seed_is_refused(value):
    with pytest.raises(ValueError, match=r"^random_state=.*: must be a whole number from 0 to 2\*\*32 - 1"):
        generator(value)
