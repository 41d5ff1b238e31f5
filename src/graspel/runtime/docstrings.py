"""Docstrings: what several estimators have in common is described once, in the docstring of their base."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import cleandoc

SECTION = r"(?<=^{}\n{}\n)(.*?)\n*(?=^\w+\n-+$|\Z)"  # the entries under the title of a section
ENTRY = re.compile(r"^(\w[\w, ]*) : .*\n?(?:(?: +.*)?\n?)*", re.M)


def find_section(docstring: str, title: str) -> str:
    r"""The entries under the title of a section; the empty string if there is no such section.

    >>> find_section("Parameters\n----------\nk : int\n    How many.\n\nNotes\n-----\nNone.", "Parameters")
    'k : int\n    How many.'
    """
    found = _pattern(title).search(docstring)
    return found[1] if found else ""


def inherit_entries(docstring: str, base: str, parameters: Iterable[str]) -> str:
    r"""A docstring with the entries of its base that it does not have itself, after its own.

    Of the base's parameters only those that the constructor has are taken.

    >>> base = "Parameters\n----------\nk : int\n    How many.\nl : int\n    How long."
    >>> inherit_entries("Title.\n\nParameters\n----------\nm : int\n    How much.\n\nNotes\n-----", base, ["k", "m"])
    'Title.\n\nParameters\n----------\nm : int\n    How much.\nk : int\n    How many.\n\nNotes\n-----'
    """
    docstring, base, parameters = cleandoc(docstring), cleandoc(base), set(parameters)
    for title in ("Parameters", "Attributes"):
        own = find_section(docstring, title)
        known = {name for entry in ENTRY.finditer(own) for name in entry[1].split(", ")}
        added = [entry for entry in ENTRY.finditer(find_section(base, title)) if entry[1] not in known]
        if title == "Parameters":
            added = [entry for entry in added if entry[1] in parameters]
        entries = "\n".join([own, *(entry[0].rstrip() for entry in added)])
        found = _pattern(title).search(docstring)
        if found:
            docstring = f"{docstring[: found.start()]}{entries}\n\n{docstring[found.end() :]}".rstrip()
    return docstring


def _pattern(title: str) -> re.Pattern[str]:
    return re.compile(SECTION.format(title, "-" * len(title)), re.DOTALL | re.MULTILINE)
