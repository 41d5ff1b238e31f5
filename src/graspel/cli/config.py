"""Options in a file: ``--write-config run.toml`` keeps those of a run, and ``--config run.toml`` runs it again.

The file names options as the command line does, without the dashes. Options that are given beside it come first.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from graspel.io.checks import UnusableFile

SUFFIXES = (".toml",)
NOT_KEPT = ("help", "parameters", "config", "write_config")


def _read_config(ctx: typer.Context, path: Path | None) -> None:
    """Take what the file says for the options that are not given."""
    if path is None:
        return
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # of TOML, or of its encoding
        raise UnusableFile(f"{path} cannot be read as TOML: {error}.") from error
    command = entries.pop("command", ctx.command.name)
    if command != ctx.command.name:
        raise UnusableFile(f"{path} is for graspel {command}, not for graspel {ctx.command.name}.")
    known = {option_name(parameter): parameter for parameter in ctx.command.params if parameter.name not in NOT_KEPT}
    values: dict[str, Any] = {}
    for name, value in entries.items():
        if name not in known:
            near = ", ".join(get_close_matches(name, known, 3, 0) or sorted(known))
            raise UnusableFile(f"{path}: graspel {command} has no option {name!r}; the nearest are {near}.")
        parameter: Any = known[name]
        several, is_flag = getattr(parameter, "multiple", False), getattr(parameter, "is_flag", False)
        if isinstance(value, list) is not several or isinstance(value, bool) is not is_flag:
            kind = "a list of texts" if several else "true or false" if is_flag else "a number or a text"
            raise UnusableFile(f"{path}: {name} must be {kind}, and is {value!r}.")
        values[parameter.name] = list(map(str, value)) if several else value if is_flag else str(value)
    ctx.default_map = values


def option_name(parameter: Any) -> str:
    """The name of an option or argument in the file."""
    long = [one for one in parameter.opts if one.startswith("--")]
    return (long[0].removeprefix("--") if long else str(parameter.name)).replace("_", "-")


def write_config(path: Path, command: Any, given: Mapping[str, Any]) -> None:
    """Write the options of a run, completely or not at all."""
    from graspel.io.atomic import write_atomically

    lines = [f"# graspel {command.name} --config {path.name}", f"command = {json.dumps(command.name)}"]
    for parameter in command.params:
        value = given.get(parameter.name)
        if parameter.name in NOT_KEPT or value is None or (value is False and getattr(parameter, "is_flag", False)):
            continue
        lines.append(f"{option_name(parameter)} = {_toml(value, getattr(parameter, 'is_flag', False))}")
    with write_atomically(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(value: Any, is_flag: bool = False) -> str:
    r"""A value of an option in TOML; what is not a number or a flag is text.

    >>> _toml(3), _toml(Path("a.csv")), _toml(["noise=true"]), _toml(True), _toml(True, is_flag=True)
    ('3', '"a.csv"', '["noise=true"]', '"yes"', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower() if is_flag else json.dumps("yes" if value else "no")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Iterable) and not isinstance(value, str | Path):
        return f"[{', '.join(_toml(str(item)) for item in value)}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


# Not in --help, which is one screen; `graspel --help` names them for all commands.
CONFIG_OPTIONS = {
    "config": Annotated[
        Path | None, typer.Option("--config", hidden=True, callback=_read_config, is_eager=True, metavar="FILE")
    ],
    "write_config": Annotated[Path | None, typer.Option("--write-config", hidden=True, metavar="FILE")],
}
