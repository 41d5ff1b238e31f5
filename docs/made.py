"""Parts of the site that are made when it is built: the reference of the commands, and three reports to try."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

INTRO = """# Commands

Made from the commands, which say the same with `graspel COMMAND --help`. A parameter of the method that has no option
here is set by `--set NAME=VALUE`; `--parameters` lists them. Commands that learn keep their options in a file with
`--write-config run.toml`, and take them from there with `--config run.toml`. `graspel --install-completion` teaches
bash, zsh and fish the names. Exit codes are 0 if all went well, 2 if the input, an option or the output cannot be used,
130 after Ctrl-C, and 1 for a fault of graspel, or if `audit --fail-on` found something.
"""


def write_commands(path: Path) -> None:
    """Write the reference of the commands."""
    from typer.main import get_command

    from graspel.cli.app import build_app

    parts = [INTRO]
    for name, command in get_command(build_app()).commands.items():
        own = import_module(f"graspel.cli.{name}").COMMAND
        classes = ", ".join(f"{{py:class}}`graspel.{estimator}`" for estimator in own.estimators)
        shown = [
            parameter for parameter in command.params if parameter.opts and not getattr(parameter, "hidden", False)
        ]
        parts += [f"## graspel {name}", command.help, "| | |\n|---|---|\n" + "\n".join(map(_row, shown))]
        parts += [f"`--set` takes the parameters of {classes}."] if classes else []
        parts += ["```\n" + "\n".join(own.examples) + "\n```"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _row(parameter: Any) -> str:
    """An option or an argument as a row of a table."""
    names = [parameter.metavar or parameter.name] if parameter.param_type_name == "argument" else parameter.opts
    value = "" if parameter.param_type_name == "argument" or parameter.is_flag else f" {parameter.metavar or ''}"
    text = re.sub(r"\[/?\w+\]", "", getattr(parameter, "help", None) or "").replace(r"\[", "[")
    text = re.sub(r"(--[a-z]+)", r"`\1`", text)
    needed = " **Needed.**" if parameter.required else ""
    cells = [f"`{', '.join(names)}{value}`", f"{text}.{needed}"]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def write_samples(folder: Path) -> None:
    """Write the reports of images, a table and texts, from what comes with scikit-learn."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.feature_extraction.text import TfidfVectorizer

    from graspel import GraspelClustering, write_report

    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_digits(return_X_y=True)
    model = GraspelClustering(10, random_state=0).fit(X)
    write_report(model, folder / "images.html", labels=y, images=(8, 8), title="1,797 handwritten digits")

    cells = load_breast_cancer(as_frame=True)
    kinds = cells.target_names[cells.target]
    model = GraspelClustering(random_state=0).fit((cells.data - cells.data.mean()) / cells.data.std())
    write_report(model, folder / "table.html", X=cells.data, labels=kinds, title="569 tumors, measured in 30 ways")

    names, texts = zip(*sorted(_describe_scikit_learn().items()), strict=True)
    words = TfidfVectorizer(stop_words="english", min_df=3, sublinear_tf=True)
    terms = words.fit_transform(texts)
    model = GraspelClustering(15, metric="cosine", random_state=0).fit(terms)
    title = f"{len(texts)} parts of scikit-learn, by what their documentation says"
    write_report(
        model, folder / "texts.html", title=title, names=names, texts=texts, features=words.get_feature_names_out()
    )


def _describe_scikit_learn() -> dict[str, str]:
    """The first paragraphs of the documentation of scikit-learn's classes and functions, without its markup."""
    from sklearn.utils.discovery import all_estimators, all_functions

    found = {}
    for name, item in [*all_estimators(), *all_functions()]:
        text = (item.__doc__ or "").partition("Parameters\n")[0]
        text = re.sub(r"(Read more|See|For (an|more)|Refer)[^.]*:ref:[^.]*\.|\.\. [a-z]+::.*", "", text)
        text = " ".join(re.sub(r":\w+:|<[^>]*>|[`*_]", " ", text).split())
        if len(text) > 15:
            found[name] = text
    return found
