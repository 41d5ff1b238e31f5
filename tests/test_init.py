"""The package itself: `import graspel` is quick, and every public name can be imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

import graspel

HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "pandas", "pyarrow", "typer", "rich")


def test_importing_graspel_imports_nothing_heavy():
    program = f"import sys, graspel; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []


def test_every_public_name_is_there():
    assert set(graspel.__all__) <= set(dir(graspel))
    for name in graspel.__all__:
        assert getattr(graspel, name) is not None


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"'graspel' has no attribute 'Grasple'; it has GRASPEL, Audit, Graph, "):
        _ = graspel.Grasple
