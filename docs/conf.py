"""The documentation site: Sphinx reads the pages of this folder, the docstrings and the examples. See `make docs`."""

from __future__ import annotations

import os
import re
import sys
import warnings
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

import graspel

ROOT = Path(__file__).parent.parent
REPOSITORY = "https://github.com/graspel/graspel"
SOURCE = f"{REPOSITORY}/blob/main"  # links to files outside of this folder lead there

EXTRA = Path(__file__).parent / "_extra"

project = "graspel"
author = "The graspel authors"
copyright = f"{date.today().year}, {author}"
version = release = graspel.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "notes",  # for people who change graspel: CONTRIBUTING.md links to them
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "gallery/sg_execution_times.rst",
    "sg_execution_times.rst",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # the order of the gallery is a function, which Sphinx cannot store

html_theme = "furo"
html_title = "graspel"
html_static_path = ["_static"]
EXTRA.mkdir(exist_ok=True)  # Sphinx leaves out a folder that does not exist when it begins
html_extra_path = [EXTRA.name]  # the sample reports
html_css_files = ["site.css"]
html_theme_options = {
    "source_repository": f"{REPOSITORY}/",
    "source_branch": "main",
    "source_directory": "docs/",
}

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say the types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def scrape_axes(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the pictures that `graspel.plot` drew in a block of an example: they are not known to pyplot."""
    from sphinx_gallery.scrapers import figure_rst

    drawn = np.ravel(block_vars["example_globals"].get("axes"))[0]  # some pictures have several axes
    figure = getattr(drawn, "figure", None)
    if figure is None or getattr(figure, "number", None) is not None or getattr(figure, "in_gallery", False):
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=120, bbox_inches="tight")
    figure.in_gallery = True
    return figure_rst([path], gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "image_scrapers": ("matplotlib", scrape_axes),
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 30,  # an example that takes longer is too long
    "abort_on_example_error": True,
    "plot_gallery": os.environ.get("GRASPEL_DOCS_EXAMPLES", "1") != "0",
}

sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
warnings.filterwarnings("ignore", message="Matplotlib is currently using agg")


def link_to_repository(app: Any, name: str, source: list[str]) -> None:
    """Let links to files outside of this folder, which work in the repository, lead to the repository."""
    page = Path(app.srcdir, name).parent

    def repository_link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(page / match["path"]))
        inside = target.is_relative_to(app.srcdir) or not target.is_relative_to(ROOT)
        return match[0] if inside else f"]({SOURCE}/{target.relative_to(ROOT)}{match['anchor'] or ''})"

    source[0] = re.sub(r"\]\((?P<path>\.\.?/[^)#\s]+)(?P<anchor>#[^)\s]*)?\)", repository_link, source[0])


def check_in_this_clone(app: Any, uri: str) -> str | None:
    """Let the check of links look for files of the repository here, where also those of the next commit are."""
    if uri.startswith("samples/"):
        return str(EXTRA / uri)
    if not uri.startswith(REPOSITORY):
        return None
    return str(ROOT / uri.removeprefix(SOURCE).removeprefix(REPOSITORY).lstrip("/").partition("#")[0])


def escape_signs(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep the absolute values |x| and the names ending in _ of the docstrings, which mean something else to Sphinx."""
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        # What scikit-learn's own docstrings refer to is not part of this site.
        lines[i] = line = re.sub(r":ref:`([^`<]*?)\s*(?:<[^`]*>)?`", r"\1", line)
        entry = re.match(r"\s*[\w, ]+ : ", line)  # the name of a parameter or attribute
        start = entry.end() if entry else 0
        parts = re.split(r"(``.*?``|`.*?`)", line[start:])
        parts[::2] = [re.sub(r"\||(?<=\w)_(?=[\s.,;:)]|$)", r"\\\g<0>", part) for part in parts[::2]]
        lines[i] = line[:start] + "".join(parts)


def make_parts(app: Any) -> None:
    """Make the parts of the site that are not written by hand."""
    from made import write_commands, write_samples

    write_commands(Path(app.srcdir, "reference/generated/commands.md"))
    if sphinx_gallery_conf["plot_gallery"] or not (EXTRA / "samples").exists():
        write_samples(EXTRA / "samples")


def check_own_links(app: Any, error: Exception | None) -> None:
    """Raise if a link of the finished site leads to a page or a heading of it that does not exist."""
    if error is not None or app.builder.name != "html":
        return
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html")}
    headings = {path: set(re.findall(r' id="([^"]*)"', text)) for path, text in texts.items()}
    dead = []
    for page, text in texts.items():
        if page.parent.name in ("samples", "_modules"):
            continue
        for link in re.findall(r'<a [^>]*href="([^"]*)"', text):
            path, _, heading = link.partition("#")
            if "://" in link or link.startswith(("mailto:", "data:")):
                dead += [f"{page.name}: {link}"] if link.startswith(REPOSITORY) and "None" in link else []
                continue
            target = (page.parent / unquote(path)).resolve() if path else page
            missing = heading and target in headings and unquote(heading) not in headings[target]
            dead += [f"{page.name}: {link}"] if missing or not target.exists() else []
    if dead:
        raise ValueError(f"{len(dead)} links lead nowhere: {', '.join(sorted(set(dead))[:20])}")


def setup(app: Any) -> None:
    """Register the hooks; the second one before numpydoc reads the docstrings."""
    app.connect("builder-inited", make_parts, priority=100)
    app.connect("build-finished", check_own_links)
    app.connect("source-read", link_to_repository)
    app.connect("linkcheck-process-uri", check_in_this_clone)
    app.connect("autodoc-process-docstring", escape_signs, priority=400)
