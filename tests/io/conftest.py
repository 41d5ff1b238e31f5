"""What the tests of files share: a way to run a command, and points in a file."""

from __future__ import annotations

from cli.conftest import data, graspel, graspel_process, points  # noqa: F401
