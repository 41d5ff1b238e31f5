"""Notebooks: graphs, certificates and plots show themselves, and progress replaces its line."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from graspel import GRASPEL, Graph
from graspel.findings import judge
from graspel.plot import drawing
from graspel.runtime.progress import announce, in_notebook, printing_progress


@pytest.fixture(scope="module")
def model():
    return GRASPEL(random_state=0).fit(np.random.default_rng(0).standard_normal((80, 3)))


def test_a_graph_shows_itself(model, toy_graph):
    html = model.graph_._repr_html_()
    root = ElementTree.fromstring(html)
    assert len(root.findall(".//circle")) == 80
    assert "80 nodes" in html
    ElementTree.fromstring(toy_graph._repr_html_())
    named = Graph(3, [0, 1], [1, 2], 1.0, node_names=["<b>", "&", '"'])._repr_html_()
    assert "&lt;b&gt;" in named
    assert "<svg" not in Graph(5000, np.arange(4999), np.arange(1, 5000), 1.0)._repr_html_()


def test_a_certificate_has_verdicts(model):
    html = model.certificate_._repr_html_()
    assert ">good<" in html
    bad = model.certificate_.__class__(
        **{**model.certificate_.as_dict(), "neighbor_recall": 0.5, "settled": False, "n_rounds": 2}
    )
    verdicts = {row["entry"]: row for row in judge(bad).rows()}
    assert verdicts["kNN recall"]["rating"] == "bad"
    assert verdicts["settled"]["rating"] == "doubtful"
    assert verdicts["settled"]["advice"] in bad._repr_html_()


def test_plots_appear_on_their_own(model):
    ax = drawing(model)
    assert ax._repr_png_().startswith(b"\x89PNG")
    assert ax.figure._repr_png_().startswith(b"\x89PNG")


def test_progress_in_a_notebook(monkeypatch, capsys):
    pytest.importorskip("IPython", reason="needs IPython: pip install graspel[test-ecosystem]")
    import IPython
    import IPython.display

    assert not in_notebook()
    shell = SimpleNamespace(kernel=object(), execution_count=7)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    shown = []
    handle = SimpleNamespace(update=lambda html: shown.append(html.data))
    monkeypatch.setattr(IPython.display, "display", lambda html, display_id: shown.append(html.data) or handle)
    assert in_notebook()
    with printing_progress():
        announce("nearest neighbors", 0.5, "<half>")
        announce("joining")
    assert len(shown) == 2
    assert 'value="0.500"' in shown[0]
    assert "&lt;half&gt;" in shown[0]
    assert capsys.readouterr().out == ""
    assert "IPython" in sys.modules
