"""Text from outside is short and cannot command a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graspel.runtime.shown import QUOTED, escape_controls, quote, shorten

ANY_TEXT = st.text(st.characters())  # with control characters and lone surrogates


@given(ANY_TEXT)
def test_what_is_shown_can_be_printed_and_encoded(text):
    shown = escape_controls(text)
    assert shown.isprintable()
    shown.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N", "P"])))
def test_ordinary_text_is_not_changed(text):
    assert escape_controls(text) == text


def test_what_a_terminal_would_obey_is_escaped():
    assert escape_controls("\x1b[2J\x07\x9b\u202eü") == r"\x1b[2J\x07\x9b\u202eü"


@given(ANY_TEXT, st.integers(10, 100))
def test_short_text_stays_and_long_text_keeps_its_ends(text, length):
    short = shorten(text, length)
    whole = " ".join(text.split())
    assert len(short) <= length
    assert short == whole or (whole.startswith(short[:2]) and whole.endswith(short[-2:]))


def test_a_quoted_value_is_short():
    assert len(quote("7" * 5_000)) == QUOTED
