"""The documentation is true: links lead to files, examples run and print what they say, commands and options exist."""

from __future__ import annotations

import re
import shlex
from doctest import ELLIPSIS, OutputChecker
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unicodedata import combining, normalize

import pytest
from sklearn.datasets import load_digits
from typer.main import get_command

import graspel
from graspel.cli.app import build_app
from graspel.cli.parameters import describe_parameters
from reproduction.tables import fill_page, list_pages, read_tables

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "reproduction/README.md"])
OPEN_PAGES = ("clustering.md", "embedding.md", "plots.md", "report.md")  # examples that start from the reader's own X

pytestmark = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the tests run without the repository")

# Packages that an example may need.
ECOSYSTEM = ("anndata", "bertopic", "datamapplot", "pacmap", "scanpy", "torch", "torch_geometric", "umap")


class Example(NamedTuple):
    """A block of Python on a page."""

    page: str
    code: str


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page between fences that name this language ("" for none)."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def all_examples() -> list[Any]:
    """Every block of Python in the documentation, each a test of its own so that test processes can share them."""
    compiles = [pytest.mark.long]  # umap compiles itself for ten seconds
    return [
        pytest.param(
            Example(page.name, code), id=f"{page.stem}-{number}", marks=compiles if "import umap" in code else []
        )
        for page in PAGES
        for number, code in enumerate(blocks(page, "python"))
    ]


def shown_commands(start: str) -> list[tuple[str, list[str]]]:
    """The command lines in the blocks without a language that begin with `start`: page and words after it."""
    found = []
    for page in PAGES:
        lines = [line.removeprefix("$ ") for block in blocks(page, "") for line in block.splitlines()]
        for line in lines:
            if line.startswith(f"{start} "):
                found.append((page.name, shlex.split(line.removeprefix(start), comments=True)))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_linked_exists(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_the_repository_lead_to_files(page):
    conf, source = run_path(str(ROOT / "docs/conf.py")), [page.read_text(encoding="utf-8")]
    app = SimpleNamespace(srcdir=str(ROOT / "docs"))
    if page.is_relative_to(app.srcdir):
        conf["link_to_repository"](app, str(page.relative_to(app.srcdir).with_suffix("")), source)
    for link in re.findall(r"\]\((https://github\.com/graspel[^)\s]*)", source[0]):
        assert Path(conf["check_in_this_clone"](app, link)).exists(), link


@pytest.mark.parametrize(
    "link", ["none.html", "#none", "b.html#none", "https://github.com/graspel/graspel/blob/main/None"]
)
def test_a_dead_link_of_the_site_ends_its_build(tmp_path, link):
    check = run_path(str(ROOT / "docs/conf.py"))["check_own_links"]
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(name="html"))
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a class="x" href="b.html#there">to b</a><a href="#top">up</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="there">B</h1><a href="https://example.org/None">elsewhere</a>')
    check(app, None)
    (tmp_path / "a.html").write_text(f'<a href="{link}">to nowhere</a>')
    with pytest.raises(ValueError, match="1 links lead nowhere"):
        check(app, None)


def test_every_step_is_linked():
    text = (ROOT / "docs/paper-to-code.md").read_text(encoding="utf-8")
    steps = [path for room in ("learning", "optimum") for path in (ROOT / "src/graspel" / room).glob("[a-z]*.py")]
    assert len(steps) >= 12
    for path in steps:
        assert f"src/graspel/{path.parent.name}/{path.name})" in text, path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_are_named_as_the_files(page):
    named = re.findall(r"\[([\w/]+\.py)\]\((?:\.\./)*src/graspel/([\w/]+\.py)\)", page.read_text(encoding="utf-8"))
    assert not [pair for pair in named if pair[0] != pair[1]]


@pytest.mark.parametrize("example", all_examples())
def test_the_examples_run_and_print_what_their_comments_say(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = readers_data() if example.page in OPEN_PAGES else {}
    try:
        exec(compile(example.code, example.page, "exec"), names)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ECOSYSTEM:
            raise
        pytest.skip(f'needs {package}: pip install "graspel[test-ecosystem]"')
    printed = capsys.readouterr().out
    promised = "".join(f"{said}\n" for said in re.findall(r"^print\(.*\)  # (.*)$", example.code, re.MULTILINE))
    assert OutputChecker().check_output(promised, printed, ELLIPSIS), printed


def readers_data() -> dict[str, Any]:
    """What a reader of these pages brings along: points, their classes and new points; here a few digits."""
    X, y = load_digits(return_X_y=True)
    return {"X": X[:300], "y": y[:300], "labels": y[:300], "X_new": X[300:310]}


def test_the_commands_and_options_that_are_shown_exist():
    app = get_command(build_app())
    commands = {name: import_module(f"graspel.cli.{name}").COMMAND for name in app.commands}
    shown = shown_commands("graspel")
    assert len(shown) >= 8
    examples = [("--help", shlex.split(example)[1:]) for command in commands.values() for example in command.examples]
    for page, (name, *words) in shown + examples:
        assert name in commands, f"{page}: graspel {name}"
        options = {option for parameter in app.commands[name].params for option in parameter.opts}
        unknown = [word for word in words if re.match(r"--?[a-z]", word) and word not in options]
        assert not unknown, f"{page}: graspel {name} {unknown}"
        known = {parameter for estimator in commands[name].estimators for parameter in describe_parameters(estimator)}
        settings = [after.partition("=")[0] for word, after in pairwise(words) if word == "--set"]
        assert set(settings) <= known, f"{page}: graspel {name} --set {settings}"


def test_the_reproductions_and_benchmarks_that_are_named_exist():
    from reproduction import REPRODUCTIONS

    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    reproductions = set(re.findall(r"python -m reproduction ([a-z0-9-]+)", text))
    assert reproductions <= {*REPRODUCTIONS, "all"}
    benchmarks = set(re.findall(r"python -m benchmarks\.([a-z0-9_]+)", text))
    assert not [name for name in benchmarks if not (ROOT / "benchmarks" / f"{name}.py").exists()]
    assert len(reproductions) >= 4
    assert len(benchmarks) >= 4


@pytest.mark.parametrize("page", list_pages(), ids=lambda page: page.name)
def test_tables_of_measured_numbers_are_those_of_the_file_of_results(page):
    text = page.read_text(encoding="utf-8")
    assert fill_page(text, read_tables()) == text, "run `make tables`"
    written = re.sub(r"<!-- table: .*?<!-- end -->", "", text, flags=re.DOTALL)
    written = re.sub(r"<!-- not measured -->\n(\|.*\n)+", "", written)
    for table in re.findall(r"(?:^\|.*\n)+", written, re.MULTILINE):
        assert not re.search(r"\d\.\d|\.\d\d", table), "a table of numbers that is not in docs/results.json"


def test_every_table_of_results_is_on_one_page_and_says_where_it_comes_from():
    shown = [name for page in list_pages() for name in re.findall(r"<!-- table: (\S+) -->", page.read_text("utf-8"))]
    assert sorted(shown) == sorted(read_tables())
    for name, entry in read_tables().items():
        assert all(entry[field] for field in ("command", "commit", "date", "machine")), name


def test_the_tests_that_prove_a_promise_exist():
    promised = re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", (ROOT / "docs/reliability.md").read_text("utf-8"))
    assert len(promised) >= 25
    assert not [
        (file, test)
        for file, test in promised
        if not (ROOT / file).exists() or f"def {test.rpartition(':')[2]}(" not in (ROOT / file).read_text("utf-8")
    ]


def test_the_reference_lists_what_exists():
    module, listed = "graspel", []
    for line in (ROOT / "docs/reference/index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.removeprefix(".. currentmodule:: ")
        elif re.fullmatch(r"   \w+", line):
            listed.append((module, line.strip()))
    assert not [(module, name) for module, name in listed if not hasattr(import_module(module), name)]
    assert {name for _, name in listed} >= {*graspel.__all__} - {"__version__"}


def test_the_table_of_rooms_is_that_of_the_imports():
    import tomllib

    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [set(re.split(r" [|:] ", layer)) for layer in rules["contracts"][0]["layers"]]
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [set(re.findall(r"`(\w+)`", row)) for row in rows] == layers


def test_the_make_targets_that_are_named_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_every_work_that_the_code_cites_is_listed():
    listed = fold((ROOT / "docs/references.md").read_text(encoding="utf-8")).split("\n- ")
    cited = {entry for path in (ROOT / "src").rglob("*.py") for entry in cited_works(path)}
    assert len(cited) >= 30
    assert not [work for work in sorted(cited) if not any(work[0] in item and work[1] in item for item in listed)]


def cited_works(path: Path) -> set[tuple[str, str]]:
    """Surname of the first author and year of each entry in the References of the docstrings of a file."""
    found = set()
    for section in re.findall(r"References\n *-{10}\n(.*?)\"{3}", path.read_text(encoding="utf-8"), re.DOTALL):
        for entry in re.split(r"\n\s*\n", section):
            author = re.match(r"\s*(?:[A-Z][a-z]?\.[ -]?)+((?:(?:von|van|der) )*[^\W\d_]+)", entry)
            year = re.search(r"\b(?:19|20)\d\d\b", entry)
            if author and year:
                found.add((fold(author[1]), year[0]))
    return found


def fold(text: str) -> str:
    """Text without accents in lower case; an umlaut, which some write as oe, is o."""
    plain = "".join(sign for sign in normalize("NFKD", text) if not combining(sign)).lower()
    return plain.replace("oe", "o").replace("ue", "u")


@pytest.mark.parametrize("name", ["digits.png", "report.png"])
def test_the_first_pictures_are_small(name):
    assert 10_000 < (ROOT / "docs" / "images" / name).stat().st_size < 300_000


def test_the_changelog_names_this_version():
    assert f"## [{graspel.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
