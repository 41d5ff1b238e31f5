"""The documentation is true: its links lead somewhere, its example runs and prints what it says."""

from __future__ import annotations

import re
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest

import graspel

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

pytestmark = pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="the tests run without the repository")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_linked_exists(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("page", ["README.md", "docs/method.md"])
def test_every_step_is_linked(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    steps = ["prepare", "initial", "neighbors", "weights", "connect", "embed", "candidates", "criticality", "stability"]
    for step in steps:
        assert f"src/graspel/steps/{step}.py" in text, step


@pytest.mark.parametrize("page", ["README.md", "docs/linalg.md"])
def test_the_examples_run_and_print_what_their_comments_say(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, page, "exec"), {})
        printed = capsys.readouterr().out
        promised = "".join(f"{said}\n" for said in re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE))
        assert OutputChecker().check_output(promised, printed, ELLIPSIS), printed


def test_the_picture_is_small():
    size = (ROOT / "docs" / "images" / "digits.png").stat().st_size
    assert 10_000 < size < 300_000


def test_the_changelog_names_this_version():
    assert f"## [{graspel.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
