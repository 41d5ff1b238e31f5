"""The modules of the page: each imports earlier ones only, no name is used twice, and their own tests pass."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import graspel.report.page
from graspel.report.rendering import IMPORT, MODULES, bundle_scripts, read_file

FOLDER = Path(graspel.report.page.__file__).parent
TOP = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (?:\[([^\]]*)\]|(\w+))", re.MULTILINE)


def test_every_module_is_in_the_script_once():
    assert sorted(MODULES) == sorted(path.stem for path in FOLDER.glob("*.js"))


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_modules_before_it(name):
    source = read_file(f"{name}.js")
    assert set(IMPORT.findall(source)) <= set(MODULES[: MODULES.index(name)])
    assert source.count("\nimport ") + source.startswith("import ") == len(IMPORT.findall(source))


def test_what_is_imported_is_exported():
    exported = {
        name: set(re.findall(r"^export (?:function|class|const) (\w+)", read_file(f"{name}.js"), re.MULTILINE))
        for name in MODULES
    }
    for name in MODULES:
        for names, module in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js"', read_file(f"{name}.js"), re.M):
            assert {one.strip() for one in names.split(",")} <= exported[module], (name, module)


def test_no_two_modules_use_one_name():
    names = [
        part.strip()
        for module in MODULES
        for several, one in TOP.findall(read_file(f"{module}.js"))
        for part in (several.split(",") if several else [one])
    ]
    assert [name for name, number in Counter(names).items() if number > 1] == []


def test_the_script_is_plain():
    script = bundle_scripts()
    assert not re.search(r"^\s*(import|export) ", script, re.MULTILINE)
    assert "</script" not in script
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch("):
        assert word not in script, "texts of the user never become markup, and nothing is asked from the network"


def test_modules_are_short():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in FOLDER.glob("*.js")}
    assert max(lengths.values()) < 300, lengths


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_tests_of_the_modules_pass():
    run = subprocess.run(
        ["node", "--test", str(Path(__file__).parent / "page" / "modules.test.mjs")], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
