"""Checks of parameters, and the random generator of a run. Every error says what is allowed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_number(
    name: str, value: Any, allowed: str, is_allowed: Callable[[Any], bool], *, whole: bool = False, hint: str = ""
) -> None:
    """Raise unless `value` is a (whole) number in the allowed range.

    >>> check_number("window", 0.7, "in (0, 0.5]", lambda v: 0 < v <= 0.5, hint="The paper uses 0.05.")
    Traceback (most recent call last):
    ...
    ValueError: window=0.7: must be a number in (0, 0.5]. The paper uses 0.05.
    """
    kind = Integral if whole else Real
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind) or not is_allowed(value):
        noun = "a whole number" if whole else "a number"
        raise ValueError(f"{name}={value!r}: must be {noun} {allowed}.{' ' + hint if hint else ''}")


def check_run(n_jobs: Any, verbose: Any) -> None:
    """Raise unless the number of threads and the verbosity of an estimator are allowed.

    >>> check_run(0, False)
    Traceback (most recent call last):
    ...
    ValueError: n_jobs=0: must be a whole number other than 0, or None. It is the number of threads; -1 is all cores.
    """
    if n_jobs is not None:
        hint = "It is the number of threads; -1 is all cores."
        check_number("n_jobs", n_jobs, "other than 0, or None", lambda v: v != 0, whole=True, hint=hint)
    if not isinstance(verbose, bool | np.bool_):
        check_number("verbose", verbose, ">= 0, or True or False", lambda v: v >= 0, whole=True)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise unless `value` is one of the choices.

    >>> check_choice("metric", "manhattan", ("euclidean", "cosine"))
    Traceback (most recent call last):
    ...
    ValueError: metric='manhattan': must be one of 'euclidean', 'cosine'.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}.")


def check_flag(name: str, value: Any) -> None:
    """Raise unless `value` is True or False.

    >>> check_flag("noise", "no")
    Traceback (most recent call last):
    ...
    ValueError: noise='no': must be True or False.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r}: must be True or False.")


def generator(random_state: Any) -> np.random.Generator:
    """Return the random generator of a run, from a seed, a numpy RandomState or Generator, or None for a new seed.

    A RandomState or Generator moves on, so a second run with it draws other numbers.

    >>> generator(7).random() == generator(7).random()
    True
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and 0 <= random_state < 2**32:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        f"random_state={random_state!r}: must be a whole number from 0 to 2**32 - 1, a numpy RandomState or Generator, "
        "or None. The same number gives the same graph."
    )


def get_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a generator in the types of JSON.

    >>> rng = np.random.default_rng(0)
    >>> again, number = restore_generator(get_state(rng)), rng.random()
    >>> again.random() == number
    True
    """
    state: dict[str, Any] = json.loads(json.dumps(rng.bit_generator.state, default=lambda array: array.tolist()))
    return state


def restore_generator(state: dict[str, Any]) -> np.random.Generator:
    """A generator in a state that `get_state` returned."""
    rng = np.random.Generator(getattr(np.random, state["bit_generator"])())
    rng.bit_generator.state = state
    return rng
