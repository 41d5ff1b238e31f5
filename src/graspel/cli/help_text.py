"""Help texts: what all commands say in the same way."""

from __future__ import annotations

__all__ = ["default"]


def default(value: str) -> str:
    r"""Return the end of an option's help that names its default.

    Examples
    --------
    >>> default("2")
    ' [dim]\\[default: 2][/dim]'
    """
    return rf" [dim]\[default: {value}][/dim]"
