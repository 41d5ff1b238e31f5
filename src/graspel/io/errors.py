"""The error for a file of the user that cannot be used."""

from __future__ import annotations


class UnusableFile(ValueError):
    """A file of the user cannot be used; the message names the file, the fault, and what to do about it."""
