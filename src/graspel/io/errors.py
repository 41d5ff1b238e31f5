"""The error for a file that a user brought and that cannot be used."""

from __future__ import annotations


class UnusableFile(ValueError):
    """A user's file that cannot be used; the message names the file and says what is wrong with it."""
