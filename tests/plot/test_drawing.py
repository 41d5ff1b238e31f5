"""The spectral drawing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from graspel.graph import Graph
from graspel.plot import drawing, save, spectral_layout


@pytest.fixture
def grid():
    """A grid of 5 x 4 nodes."""
    nodes = np.arange(20).reshape(5, 4)
    heads = np.concatenate([nodes[:-1].ravel(), nodes[:, :-1].ravel()])
    tails = np.concatenate([nodes[1:].ravel(), nodes[:, 1:].ravel()])
    return Graph(20, heads, tails, np.linspace(1.0, 2.0, len(heads)))


def test_the_layout_is_made_of_the_first_nontrivial_eigenvectors(grid):
    places = spectral_layout(grid)
    L = grid.laplacian.toarray()
    values = np.linalg.eigvalsh(L)[1:4]
    assert np.allclose(L @ places, places * values, atol=1e-3)
    assert np.allclose(places.T @ places, 20 * np.eye(3), atol=1e-3)
    assert np.allclose(places.sum(axis=0), 0.0, atol=1e-3)


def test_a_png_is_written_whole(grid, tmp_path):
    save(drawing(grid, labels=np.arange(20) % 3), tmp_path / "drawing.png")
    assert [path.name for path in tmp_path.iterdir()] == ["drawing.png"]
    assert (tmp_path / "drawing.png").read_bytes().startswith(b"\x89PNG")


def test_labels_become_a_legend(grid):
    figure = drawing(grid, labels=["even" if i % 2 == 0 else "odd" for i in range(20)]).figure
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["even", "odd"]


def test_twenty_classes_are_told_apart(grid):
    figure = drawing(grid, labels=np.arange(20)).figure
    (ax,) = figure.axes
    looks = {(handle.get_color(), handle.get_marker()) for handle in ax.get_legend().legend_handles}
    assert len(looks) == 20
    assert len(ax.collections) == 1 + 2, "edges, then one collection for each marker"


def test_the_title_says_what_is_shown(grid):
    ax = drawing(grid, title="A grid")
    assert ax.get_title() == "A grid"
    assert any("20 points, 31 edges" in text.get_text() for text in ax.texts)


def test_the_drawing_is_a_rotation_of_the_layout(grid):
    ax = drawing(grid)
    drawn = ax.collections[1].get_offsets()
    assert len(drawn) == 20
    farthest = np.linalg.norm(spectral_layout(grid), axis=1).max()
    assert np.linalg.norm(drawn, axis=1).max() <= farthest * (1 + 1e-9), "nothing is stretched"


def test_no_global_figure_is_touched(grid):
    had = "matplotlib.pyplot" in sys.modules
    drawing(grid)
    assert ("matplotlib.pyplot" in sys.modules) == had


def test_it_draws_into_given_axes(grid):
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.add_subplot(1, 2, 1)
    assert drawing(grid, ax=ax).figure is figure
    assert len(ax.collections) == 2
    with pytest.raises(ValueError, match="three dimensions: give ordinary axes"):
        drawing(grid, ax=figure.add_subplot(1, 2, 2, projection="3d"))


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_small_graphs(n_nodes):
    path = Graph(n_nodes, np.arange(n_nodes - 1), np.arange(1, n_nodes), 1.0)
    assert spectral_layout(path).shape == (n_nodes, 3)
    drawing(path, labels=np.arange(n_nodes))


def test_bad_input(grid):
    with pytest.raises(ValueError, match=r"labels has shape \(3,\); the graph has 20 nodes"):
        drawing(grid, labels=[1, 2, 3])
    with pytest.raises(ValueError, match="at least two"):
        drawing(Graph(1, [], [], []))
