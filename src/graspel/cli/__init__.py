"""The command line: ``graspel learn``, ``cluster``, ``report`` and the others, one file each.

The commands import what they need when they run, so that ``graspel --help`` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; `arguments` defaults to those of the process."""
    from graspel.cli.errors import friendly_errors

    with friendly_errors():
        from typer.main import get_command

        from graspel.cli.app import build_app

        command = get_command(build_app())
        code = command.main(arguments, prog_name="graspel", standalone_mode=False)
    sys.exit(code if isinstance(code, int) else 0)
