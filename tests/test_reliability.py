"""docs/reliability.md: every promise names a test, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/reliability.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the tests run without the repository")


def promises() -> list[tuple[str, str]]:
    """The rows of all tables: the promise, and the cell that names its test."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [row for row in rows if row != ("promise", "test")]


def names_of_tests(path: Path) -> set[str]:
    """The tests that a file defines, as pytest names them."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        members = node.body if isinstance(node, ast.ClassDef) else []
        names |= {f"{node.name}::{member.name}" for member in members if isinstance(member, ast.FunctionDef)}
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return names


def test_every_promise_names_a_test_that_exists():
    found = promises()
    assert len(found) > 20
    for promise, cell in found:
        named = re.fullmatch(r"`(tests/[\w/]+\.py)::((?:\w+::)?test_\w+)`", cell)
        assert named is not None, f"{promise!r} names no test, but {cell}"
        assert (ROOT / named[1]).exists(), f"{named[1]} does not exist"
        assert named[2] in names_of_tests(ROOT / named[1]), f"{cell} does not exist"
