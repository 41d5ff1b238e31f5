"""``python -m reproduction NAME``: measure a table or a figure of the paper again."""

from __future__ import annotations

import typer

from reproduction.command import EXAMPLES, HELP, reproduce


def build_app() -> typer.Typer:
    """The command line."""
    app = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)
    app.command(help=HELP, epilog=EXAMPLES, no_args_is_help=True)(reproduce)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit; `arguments` defaults to those of the process."""
    import sys

    from typer.main import get_command

    from graspel.cli.errors import friendly_errors

    with friendly_errors():
        code = get_command(build_app()).main(arguments, prog_name="python -m reproduction", standalone_mode=False)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
