"""A command: a function whose groups of options are written out for typer, its help, and the estimators it runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from shutil import get_terminal_size
from textwrap import fill
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from graspel.cli.config import CONFIG_OPTIONS, SUFFIXES, write_config
from graspel.cli.errors import friendly_errors
from graspel.cli.parameters import LEARNER, describe_parameters, has_learner


class _ShortUsage(TyperCommand):
    """A command that says how it is used, in a few lines, where nothing is given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and any(parameter.required for parameter in self.params):
            example = (self.epilog or "").splitlines()[1]
            print(f"Usage: {example}\nAll options: {ctx.command_path} --help", file=sys.stderr)
            ctx.exit(2)
        rest: list[str] = super().parse_args(ctx, args)
        return rest


@dataclass(frozen=True)
class Command:
    """A command of ``graspel``.

    Attributes
    ----------
    function : callable
        Its parameters are the options. One that is annotated with a dataclass stands for all fields of that class; to
        a list `written` the function appends what it has written, for the message after Ctrl-C; `repeat` writes the
        options that were given as the command line of another command.
    help : str
        The first paragraph is the line in the list of commands.
    examples : tuple of str
    estimators : tuple of str
        The estimators whose parameters ``--set`` sets and ``--parameters`` lists.
    """

    function: Callable[..., None]
    help: str
    examples: tuple[str, ...]
    estimators: tuple[str, ...] = ()

    def add_to(self, app: typer.Typer) -> None:
        """Make it a command of the application, under the name of its function."""
        examples = "\n".join(("[bold]Examples[/bold]", *self.examples))
        app.command(self.function.__name__, cls=_ShortUsage, help=self.help, epilog=examples)(self._write_out())

    def _write_out(self) -> Callable[..., None]:
        """The function with one parameter for each option, which are collected into groups when it is called."""
        hints = get_type_hints(self.function, include_extras=True)
        groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
        options: list[tuple[str, Any, Any]] = []  # name, default and annotation
        writes, repeats = "written" in hints, "repeat" in hints
        for name, parameter in signature(self.function).parameters.items():
            if name in ("written", "repeat"):
                continue
            if name in groups:
                inner = get_type_hints(groups[name], include_extras=True)
                options += [(field.name, field.default, inner[field.name]) for field in fields(groups[name])]
            else:
                options.append((name, parameter.default, hints[name]))
        at = next((at for at, (name, _, _) in enumerate(options) if name == "settings"), None)
        if at is not None:
            more_options: dict[str, Any] = {"parameters": (False, self._list_option())}
            more_options |= {name: (None, kind) for name, kind in CONFIG_OPTIONS.items()}
            options[at + 1 : at + 1] = [(name, *rest) for name, rest in more_options.items()]

        def run(*, ctx: typer.Context, **given: Any) -> None:
            for name in ("parameters", "config"):
                given.pop(name, None)
            with friendly_errors(quiet=given.get("quiet", False)) as written, _keep(ctx.command, given):
                more: dict[str, Any] = {"written": written} if writes else {}
                if repeats:
                    more["repeat"] = partial(write_command, options, dict(given))
                for name, group in groups.items():
                    make: Any = group
                    given[name] = make(**{field.name: given.pop(field.name) for field in fields(group)})
                self.function(**given, **more)

        parameters = [
            Parameter(n, Parameter.KEYWORD_ONLY, default=value, annotation=kind) for n, value, kind in options
        ]
        run.__doc__ = self.function.__doc__
        parameters.append(Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context))
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {"ctx": typer.Context} | {name: kind for name, _, kind in options}
        return run

    def _list_option(self) -> Any:
        """The option ``--parameters``."""

        def list_them(ctx: typer.Context, asked: bool) -> None:
            if asked:
                own = {parameter.name: parameter.opts[0] for parameter in ctx.command.params if parameter.name}
                print("\n\n".join(list_parameters(estimator, own) for estimator in self.estimators))
                raise typer.Exit

        help = "List what --set can set, with meanings and defaults"
        return Annotated[bool, typer.Option("--parameters", help=help, callback=list_them, is_eager=True)]


@contextmanager
def _keep(command: Any, given: dict[str, Any]) -> Iterator[None]:
    """Write the options of a run to the file that was asked for, if the run succeeds."""
    path, options = given.pop("write_config", None), dict(given)
    if path is None:
        yield
        return
    from graspel.io.atomic import check_output

    check_output(path, SUFFIXES, "options")
    yield
    write_config(path, command, options)


def write_command(
    options: list[tuple[str, Any, Any]],
    given: dict[str, Any],
    command: str,
    output: str,
    names: Iterable[str],
    **changed: Any,
) -> str:
    """The command line of a command that writes `output`, with those of the options `names` that were given.

    Parameters
    ----------
    options : list of (name, default, annotation)
    given : dict
    command, output : str
    names : iterable of str
    **changed
        Options whose values are not those that were given.

    Examples
    --------
    >>> drop = ("drop", None, Annotated[str, typer.Option()])
    >>> write_command([drop], {"drop": "id,my name"}, "learn", "graph.npz", ["drop"])
    "graspel learn -o graph.npz --drop 'id,my name'"
    """
    files, words = [], []
    for name, default, annotation in options:
        value = changed.get(name, given.get(name, default))
        if name not in names or value is None or value is False:
            continue
        info = annotation.__metadata__[0]
        if isinstance(info, typer.models.ArgumentInfo):
            files.append(shlex.quote(str(value)))
            continue
        flags = (info.default, *(info.param_decls or ()))  # typer takes the first name for the default until it runs
        flag = next((one for one in flags if str(one).startswith("--")), f"--{name.replace('_', '-')}")
        texts = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        for text in texts if isinstance(texts, list | tuple) else [texts]:
            words += [flag, shlex.quote(str(text))]
    return " ".join(["graspel", command, *files, "-o", output, *words])


def list_parameters(estimator: str, options: dict[str, str]) -> str:
    """The parameters of an estimator, one paragraph each; `options` holds those that have an option of their own."""
    width = min(100, get_terminal_size((100, 24)).columns)
    lines = [f"Parameters of {estimator}, set by --set NAME=VALUE:"]
    for name, (kind, text) in describe_parameters(estimator).items():
        own = f"  (option {options[name]})" if name in options else ""
        meaning = fill(text, width, initial_indent="    ", subsequent_indent="    ")
        lines.append(f"\n{name} : {kind}{own}\n{meaning}")
    if has_learner(estimator):
        lines.append(f"\n{LEARNER}NAME : a parameter of the learner of the graph; see graspel learn --parameters")
    return "\n".join(lines)
