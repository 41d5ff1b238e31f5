"""Rehearse a release: build, check and install what would be published. Run by ``make release-check``.

1. The version is that of pyproject.toml in CHANGELOG.md, CITATION.cff and the conda recipe, whose requirements are
   those of pyproject.toml.
2. sdist and wheel are built from what git tracks; twine and check-wheel-contents accept them, and they hold what they
   should: the sdist every tracked file, the wheel every file of src/graspel and nothing else.
3. Each is installed in an empty environment, on the oldest Python with the oldest packages that pyproject.toml allows,
   and on the newest Python that is here with the newest packages. The demo and a smoke test run there, outside of the
   clone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME, VERSION = PROJECT["name"], PROJECT["version"]
TOOLS = ("build", "twine", "check-wheel-contents", "py-rattler-build")
NOT_IN_SDIST = (".github/", ".pre-commit-config.yaml")  # of the repository alone
SDIST_ALONE = {"PKG-INFO"}
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # conda's package without a window toolkit
SMOKE = """
import graspel, numpy as np
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
model = graspel.GRASPEL(random_state=0).fit(X)
assert model.graph_.is_connected and graspel.__version__ == {version!r}
assert len(set(graspel.GraspelClustering(3, random_state=0).fit_predict(model.index_))) == 3
assert "site-packages" in graspel.__file__
"""


def main() -> None:
    """Run all checks; the first that fails ends the run."""
    check_versions()
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder, "tools"), sys.executable, *TOOLS)
        check_recipe(python)
        sdist, wheel = build(python, Path(folder, "dist"))
        check_contents(sdist, wheel)
        pythons = find_pythons()
        oldest, newest = pythons[0], pythons[-1]
        for version, path in (oldest, newest):
            for package in (wheel, sdist):
                constraints = list_floors(Path(folder)) if path == oldest[1] and package == wheel else None
                install(package, Path(folder, f"{version}-{package.suffix}"), path, constraints)
    say(f"{NAME} {VERSION} can be released.")


def check_versions() -> None:
    """Raise unless all files name the version of pyproject.toml."""
    for name, found in {
        "CHANGELOG.md": f"## [{VERSION}]",
        "CITATION.cff": f"\nversion: {VERSION}\n",
        ".ci/conda/recipe.yaml": f'version: "{VERSION}"',
    }.items():
        if found not in (ROOT / name).read_text(encoding="utf-8"):
            sys.exit(f"{name} does not name the version {VERSION} of pyproject.toml.")
    if ".dev" in VERSION:
        sys.exit(f"{VERSION} is a version of development.")
    say(f"one version everywhere: {VERSION}")


def check_recipe(python: Path) -> None:
    """Raise unless the conda recipe can be rendered, and requires what pyproject.toml requires."""
    text = (ROOT / ".ci/conda/recipe.yaml").read_text(encoding="utf-8")
    run(python, "-c", f"from rattler_build import Stage0Recipe; Stage0Recipe.from_yaml({text!r}).render()")
    required = re.findall(r"^    - ([a-z-]+) >=([\d.]+)$", text.partition("  run:")[2].partition("tests:")[0], re.M)
    wanted = [tuple(requirement.split(">=")) for requirement in PROJECT["dependencies"]]
    if sorted(required) != sorted((CONDA_NAMES.get(name, name), floor) for name, floor in wanted):
        sys.exit(f".ci/conda/recipe.yaml requires {required}, pyproject.toml {wanted}.")
    say("the conda recipe renders, and requires the same packages")


def build(python: Path, folder: Path) -> tuple[Path, Path]:
    """sdist, and the wheel that is made from it, checked by twine and check-wheel-contents."""
    run(python, "-m", "build", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    run(python, "-m", "twine", "check", "--strict", sdist, wheel)
    run(python, "-m", "check_wheel_contents", wheel)
    say(f"built {sdist.name} ({sdist.stat().st_size:,} bytes) and {wheel.name} ({wheel.stat().st_size:,} bytes)")
    return sdist, wheel


def check_contents(sdist: Path, wheel: Path) -> None:
    """Raise unless both hold the tracked files that they should, and no others."""
    tracked = run("git", "-C", ROOT, "ls-files").split()
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    compare("the wheel", held, {name.removeprefix("src/") for name in tracked if name.startswith("src/")})
    with tarfile.open(sdist) as archive:
        held = {member.name.partition("/")[2] for member in archive if member.isfile()}
    compare("the sdist", held - SDIST_ALONE, {name for name in tracked if not name.startswith(NOT_IN_SDIST)})
    say("both hold the tracked files, and no others")


def compare(what: str, held: set[str], wanted: set[str]) -> None:
    """Raise with the differences."""
    if held != wanted:
        sys.exit(f"{what} lacks {sorted(wanted - held)[:9]} and has {sorted(held - wanted)[:9]} too much.")


def find_pythons() -> list[tuple[str, str]]:
    """The versions of Python that are here and allowed, oldest first, with their paths."""
    least = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    candidates = [shutil.which(f"python3.{minor}") for minor in range(least[1], least[1] + 10)]
    candidates += [sys.executable, *map(str, Path.home().glob(".pyenv/versions/*/bin/python"))]
    found: dict[tuple[int, ...], str] = {}
    for path in filter(None, candidates):
        done = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
        version = tuple(map(int, done.stdout.split()))
        if done.returncode == 0 and version >= least:
            found.setdefault(version, path)
    say(f"Python here: {', '.join('.'.join(map(str, version)) for version in sorted(found))}")
    return [(".".join(map(str, version)), found[version]) for version in sorted(found)]


def list_floors(folder: Path) -> Path:
    """A file of constraints with the oldest versions of all packages."""
    path = folder / "floors.txt"
    path.write_text(run(sys.executable, ROOT / ".ci/floors.py"))
    return path


def install(package: Path, folder: Path, python: str, constraints: Path | None) -> None:
    """Install a package in an empty environment, and use it there."""
    options = [] if constraints is None else ["--constraint", constraints]
    own = make_environment(folder, python, package, *options)
    run(own, "-c", SMOKE.format(version=VERSION), cwd=folder)
    said = run(own.with_name("graspel"), "demo", cwd=folder)
    if not (folder / "graspel-demo/report.html").stat().st_size > 100_000 or "Now yours:" not in said:
        sys.exit(f"{package.name}: the demo said {said}")
    installed = dict(line.split("==") for line in run(own, "-m", "pip", "freeze").split() if "==" in line)
    names = ", ".join(f"{name} {installed[name]}" for name in ("numpy", "scipy", "scikit-learn", "numba", "typer"))
    say(f"{package.name} works on Python {'.'.join(folder.name.split('-')[:1])} with {names}")
    shutil.rmtree(folder)


def make_environment(folder: Path, python: str, *packages: object) -> Path:
    """A new environment with these packages; the path of its Python."""
    run(python, "-m", "venv", folder)
    own = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return own


def run(*command: object, cwd: Path | None = None) -> str:
    """Run a command; what it prints. Raise, with all that it said, if it fails."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd, env=clean)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))[:300]}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def say(sentence: str) -> None:
    """Print a line now."""
    print(sentence, flush=True)


if __name__ == "__main__":
    main()
