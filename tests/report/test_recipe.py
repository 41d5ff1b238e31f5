"""The recipe on the page is true: the command line and the Python code that it shows make the same graph to the bit."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from graspel import Graph
from graspel.cli import main

OPTIONS = {
    "prepared": "--scale standard --impute median --drop code --label-column kind --id-column name",
    "columns by number": "--columns 2,4 --scale robust --metric manhattan --set tol=0.5 --seed 3 --impute graph",
}


def run(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([*map(str, arguments)])
    assert stopped.value.code == 0


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((80, 4)) * [1, 1000, 0.01, 1], columns=["a", "b", "it's c", "code"])
    frame.insert(0, "name", [f"row {i}" for i in range(80)])
    frame["kind"] = [f"kind {i % 3}" for i in range(80)]
    frame.loc[7, "a"] = np.nan
    path = tmp_path_factory.mktemp("a folder with spaces") / "it's data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_both_recipes_make_the_same_graph(table, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    run("report", table, "-o", "page.html", "-q", *shlex.split(options))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    command, code = (html.unescape(one) for one in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL))
    words = shlex.split(command)
    assert words[:2] == ["graspel", "learn"]
    run(*words[1:], "-q")
    by_command = Graph.read(tmp_path / "graph.npz")
    names: dict = {}
    exec(code, names)
    in_python = names["learner"].graph_
    for name in ("heads", "tails", "weights", "origin", "round"):
        assert (getattr(by_command, name) == getattr(in_python, name)).all(), name
    edges = json.loads(re.search(r'id="rest">(.*?)</script>', page, re.DOTALL)[1])["edges"]
    for name, kind in (("heads", "<i4"), ("tails", "<i4"), ("weights", "<f4")):
        drawn = np.frombuffer(base64.b64decode(edges[name]), kind)
        assert (drawn == getattr(in_python, name).astype(kind)).all(), "and it is the graph of the page"
