"""The application: all commands under the name ``graspel``."""

from __future__ import annotations

from typing import Annotated

import typer

from graspel.cli import audit, classify, cluster, convert, demo, embed, info, learn, plan, predict, recover, report
from graspel.cli.memory_limit import check_memory_limit

HELP = """\
Say what is in a table of points: groups, odd points, wrong labels. All of it rests on a sparse, connected graph that
is learned from the points.

Start with [bold]graspel demo[/bold], or with your own points: [bold]graspel report your.csv -o report.html[/bold].
Commands that learn keep their options with [bold]--write-config run.toml[/bold], and take them from there with
[bold]--config run.toml[/bold].
"""

EXIT_CODES = (
    "Exit codes: 0 done, 2 the input, an option or the output cannot be used (one sentence says why), "
    "130 stopped by Ctrl-C, 1 a bug (GRASPEL_DEBUG=1 shows the traceback), or what `audit --fail-on` looks for."
)


def build_app() -> typer.Typer:
    """Return the application with all its commands."""
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(help=HELP, epilog=EXIT_CODES)(_graspel)
    for module in (report, audit, cluster, classify, embed, predict, learn, recover, info, convert, plan, demo):
        module.COMMAND.add_to(app)
    return app


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"graspel {version('graspel')}")
        raise typer.Exit


def _graspel(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Hold the options of ``graspel`` itself, and check what every command needs before it runs."""
    check_memory_limit()
