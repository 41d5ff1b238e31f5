r"""Text from outside, made fit to be shown: names of files, cells of tables, the words of another library.

Such text may be long, and it may hold control characters, with which a file name could clear the screen of whoever
reads the message. So the command line shows every character that cannot be printed as its escape (``\x1b``), and
messages quote what they found in a file only up to a fixed length.
"""

from __future__ import annotations

from typing import Any

QUOTED = 60  # characters of a value in a message; enough to find it in a file
SHORTENED = 300  # characters of a sentence by another library, such as the reason why a parser failed


def escape_controls(text: str) -> str:
    r"""Return the text with an escape in place of each character that cannot be printed.

    >>> escape_controls("\x1b[2Jpoints.npy")
    '\\x1b[2Jpoints.npy'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shorten(text: str, length: int = SHORTENED) -> str:
    """Return the text on one line, and without its middle where it is longer than `length` characters.

    >>> shorten("12345678901234567890", 12)
    '1234 ... 890'
    """
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    tail = (length - 5) // 2
    return f"{text[: length - 5 - tail]} ... {text[-tail:]}"


def quote(value: Any) -> str:
    """Return the `repr` of a value, shortened.

    >>> quote("a cell"), len(quote("7" * 5_000))
    ("'a cell'", 60)
    """
    return shorten(repr(value), QUOTED)
