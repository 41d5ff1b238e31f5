"""Optional packages: a missing one is named together with the command that installs it."""

from __future__ import annotations

import sys

import pytest

from graspel.runtime.optional import import_optional, require_optional

MESSAGE = r'^Reading \.parquet needs no_such_package\. Install it: pip install "graspel\[tables\]"$'


def test_a_package_that_is_there():
    assert import_optional("os.path", "none", "This").join("a", "b")
    require_optional("os.path", "none", "This")


@pytest.mark.parametrize("check", [import_optional, require_optional])
def test_a_package_that_is_missing(check):
    with pytest.raises(ImportError, match=MESSAGE):
        check("no_such_package.part", "tables", "Reading .parquet")


def test_a_check_does_not_import():
    sys.modules.pop("this", None)
    require_optional("this", "none", "This")
    assert "this" not in sys.modules
