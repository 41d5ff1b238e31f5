"""Every command line in README, docs and `--help` runs, in a folder with small files of the names that it uses."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from graspel import GRASPEL, Graph, GraspelClustering, GraspelTSNE
from graspel.cli.app import build_app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
N = 48  # points: three groups
ELSEWHERE = "--dask"  # needs a scheduler; tests/scale run it

pytestmark = pytest.mark.skipif(not PAGES[0].exists(), reason="the tests run without the repository")


def find_commands() -> list[str]:
    """The command lines in blocks and between backquotes that name a file, and those of the commands' help."""
    commands = get_command(build_app()).commands
    found = [example for command in commands.values() for example in help_of(command)]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found += re.findall(r"^(?:\$ |\.venv/bin/)?(graspel [a-z]+ .*?)(?:  +#.*)?$", text, re.MULTILINE)
        found += [line for line in re.findall(r"`(graspel [a-z]+ [^`|\n]*)`", text) if " -o " in line]
    there = {line for line in found if line.split()[1] in commands and ELSEWHERE not in line}
    return sorted(line for line in there if not line.startswith("graspel demo"))  # tests/cli/test_demo.py


def help_of(command):
    return (command.epilog or "").splitlines()[1:]


def points(n: int = N, n_columns: int = 12):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, n_columns)) + 8 * (np.arange(n) % 3)[:, None] * (np.arange(n_columns) % 2)


def frame(**columns):
    table = pd.DataFrame(points(), columns=[f"feature{at}" for at in range(12)])
    return table.assign(**columns)


def save_zarr(path: Path) -> None:
    import zarr

    zarr.save_array(str(path), points())


def save_folder(path: Path) -> None:
    path.mkdir()
    frame().to_parquet(path / "0.parquet")


def save_photos(path: Path) -> None:
    from PIL import Image

    path.mkdir()
    for at, row in enumerate(points(n_columns=64)):
        Image.fromarray(np.clip(20 * row + 60, 0, 255).astype(np.uint8).reshape(8, 8)).save(path / f"{at:02}.png")


GROUPS = np.array(["a", "b", "c"])[np.arange(N) % 3]
FEW = np.where(np.arange(N) < 9, GROUPS, "")
NAMES = [f"P{at:02}" for at in range(N)]
MAKERS = {
    "points.npy": lambda path: np.save(path, points()),
    "new.npy": lambda path: np.save(path, points(5)),
    "vectors.npy": lambda path: np.save(path, points()),
    "digits.npy": lambda path: np.save(path, np.abs(points(n_columns=64))),
    "signals.npy": lambda path: np.save(path, points(12, 40)),
    "voltages.npy": lambda path: np.save(path, points(8, 20)),
    "currents.npy": lambda path: np.save(path, np.diff(points(8, 21), axis=1)),
    "few.npy": lambda path: np.save(path, np.where(FEW == "", -1, np.arange(N) % 3)),
    "tfidf.npz": lambda path: np.savez(path, X=np.abs(points())),
    "few.csv": lambda path: frame(kind=FEW).to_csv(path, index=False),
    "points.csv": lambda path: frame().to_csv(path, index=False),
    "your.csv": lambda path: frame().to_csv(path, index=False),
    "new.csv": lambda path: frame().head(5).to_csv(path, index=False),
    "wine.csv": lambda path: frame(cultivar=np.arange(N) % 3).drop(columns="cultivar").to_csv(path, index=False),
    "patients.csv": lambda path: frame(patient=NAMES, outcome=np.arange(N) % 2, comment=np.arange(N) % 5).to_csv(
        path, index=False
    ),
    "customers.csv": lambda path: frame(customer=NAMES).to_csv(path, index=False),
    "signals.csv": lambda path: np.savetxt(path, points(12, 40), delimiter=","),
    "data.parquet": lambda path: frame(y=GROUPS, part=["train", "test"] * (N // 2)).to_parquet(path),
    "points.zarr": save_zarr,
    "folder-of-parquet": save_folder,
    "photos": save_photos,
    "classes.csv": lambda path: pd.Series(GROUPS, name="class").to_csv(path, index=False),
    "names.txt": lambda path: path.write_text("\n".join(NAMES)),
    "texts.txt": lambda path: path.write_text("\n".join(NAMES)),
    "documents.csv": lambda path: pd.Series(NAMES, name="text").to_csv(path, index=False),
    "terms.txt": lambda path: path.write_text("\n".join(frame().columns)),
    "graph.npz": lambda path: GRASPEL(random_state=0).fit(points()).graph_.save(path),
    "large.npz": lambda path: GRASPEL(random_state=0).fit(points()).graph_.save(path),
    "known.npz": lambda path: Graph(12, range(11), range(1, 12), 1.0).save(path),
    "run.toml": lambda path: path.write_text('data = "points.npy"\noutput = "clusters.csv"\nclusters = 3\n'),
    "edges.csv": lambda path: GRASPEL(random_state=0).fit(points()).graph_.export(path),
    "wine.npz": lambda path: GraspelClustering(3, random_state=0).fit(frame()).save(path),
    "map.npz": lambda path: GraspelTSNE(random_state=0, max_iter=50).fit(points()).save(path),
}


@pytest.mark.parametrize("line", find_commands())
def test_it_runs(graspel, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)[1:]
    outputs = {after for before, after in pairwise(words) if before.startswith(("-o", "--save", "--plot", "--write"))}
    outputs |= {words[2]} if words[0] == "convert" else set()
    words_of_config = ["points.npy"] if "--config" in words else []
    named = {word.partition("=")[2] or word for word in [*words, *words_of_config]}
    for name in named - outputs:
        if name in MAKERS:
            MAKERS[name](tmp_path / name)
    if "cultivar" in words:
        frame(cultivar=GROUPS).to_csv("wine.csv", index=False)
    outcome = graspel(*words)
    assert outcome.code == (1 if "--fail-on" in words and "--fail-on: found" in outcome.out else 0), outcome.err
    assert all((tmp_path / name).exists() for name in outputs)
