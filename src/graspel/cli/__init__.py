"""The command line: ``graspel learn``, ``cluster``, ``report`` and the others, one file each.

The commands import what they need when they run, so that ``graspel --help`` is quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; `arguments` defaults to those of the process."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        from graspel.cli.errors import friendly_errors
    except KeyboardInterrupt:
        print("stopped; nothing was written", file=sys.stderr)
        sys.exit(130)

    with friendly_errors():
        from typer.main import get_command

        from graspel.cli.app import build_app

        command = get_command(build_app())
        code = command.main(arguments, prog_name="graspel", standalone_mode=False)
        if code == 130:
            raise KeyboardInterrupt  # typer has turned it into this code
        sys.stdout.flush()  # here, where a reader that has gone away is no error
    sys.exit(code if isinstance(code, int) else 0)
