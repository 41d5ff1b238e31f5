"""The pictures: what they show is what was fitted, on the axes given, and they are saved whole."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest

from graspel import GRASPEL, Graph, plot
from graspel.plot.canvas import check_labels
from graspel.plot.charts import first_eigenvalues

HOSTILE = ["$\\frac{1}{", "<script>", "x" * 10_000, "_a^b", "\n\n"]


def texts(figure):
    """All texts of a figure."""
    from matplotlib.text import Text

    return " ".join(text.get_text() for text in figure.findobj(Text))


def rendered(drawn):
    """Draw it: what matplotlib cannot draw raises here."""
    figure = drawn.figure if hasattr(drawn, "figure") else drawn[0].figure
    figure.savefig(io.BytesIO(), dpi=40)
    return drawn


# --- each is drawn on the axes given, and shows its numbers ----------------------------------------------------------


def test_convergence_shows_eta_and_the_objective(model, ax):
    assert rendered(plot.convergence(model, ax)) is ax
    assert ax.get_yscale() == "log"
    assert ax.lines[0].get_ydata().tolist() == [record.max_eta for record in model.history_]
    right = next(other for other in ax.figure.axes if other is not ax)
    known = [record.objective for record in model.history_ if np.isfinite(record.objective)]
    assert right.lines[0].get_ydata().tolist() == known
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["$\\eta_{max}$", "joins components", "tol = 10", "objective F"]


def test_convergence_shows_the_gap_to_the_optimum(blobs, ax):
    model = GRASPEL(weights="optimal", random_state=0).fit(blobs[0])
    rendered(plot.convergence(model, ax))
    gaps = [record.gap for record in model.history_ if record.gap is not None]
    assert ax.lines[0].get_ydata().tolist() == gaps
    assert "upper bound of the gap" in texts(ax.figure)


def test_convergence_without_rounds_says_so(blobs):
    learner = GRASPEL(initial="mst", max_iter=0).fit(blobs[0])
    assert "no rounds" in texts(rendered(plot.convergence(learner)).figure)


def test_spectrum_shows_eigenvalues_and_the_gap(model, ax):
    assert rendered(plot.spectrum(model, ax)) is ax
    exact = np.linalg.eigvalsh(model.graph_.laplacian.toarray())[:20]
    assert np.allclose(ax.lines[0].get_ydata(), exact, rtol=1e-3, atol=1e-8 * exact[-1])
    assert "largest gap, after 4" in texts(ax.figure)


def test_the_gap_of_a_graph_of_several_components_follows_its_zeros():
    pairs = Graph(6, [0, 2, 4], [1, 3, 5], 1.0)
    found = first_eigenvalues(pairs)
    assert (found.gap_after, found.n_components) == (3, 3)
    assert "3 components" in texts(rendered(plot.spectrum(pairs)).figure)
    assert first_eigenvalues(Graph(2, [0], [1], 1.0)).gap_after is None


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("edges", [True, False])
def test_drawing(clusterer, dimensions, edges):
    ax = rendered(plot.drawing(clusterer, dimensions=dimensions, edges=edges, title="Blobs"))
    assert (ax.name == "3d") == (dimensions == 3)
    assert len(ax.collections) == 1 + edges
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2", "3"]
    assert "200 points" in texts(ax.figure)


def test_resistance_lies_along_the_line_for_edges(model, ax):
    assert rendered(plot.resistance(model, ax)) is ax
    z, R = np.asarray(ax.collections[1].get_offsets()).T
    assert 0.5 < np.median(R / z) < 1.5
    assert "random pairs: r = " in texts(ax.figure)


def test_recovery_tells_shared_missed_and_extra_edges_apart():
    truth = Graph(4, [0, 1, 2], [1, 2, 3], 1.0)
    learned = Graph(4, [0, 1, 0], [1, 2, 3], 1.0)
    left, right = rendered(plot.recovery(truth, learned))
    shared, missed = left.collections[:2]
    again, extra = right.collections[:2]
    assert [len(c.get_segments()) for c in (shared, missed, again, extra)] == [2, 1, 2, 1]
    looks = {(tuple(c.get_color()[0]), str(c.get_linestyle())) for c in (shared, missed, extra)}
    assert len(looks) == 3
    assert "missed (1)" in texts(left.figure)
    assert "F-measure 0.67" in texts(left.figure)
    assert np.array_equal(left.collections[2].get_offsets(), right.collections[2].get_offsets()), "one layout"


def test_recovery_of_graphs_of_several_components_and_at_given_positions():
    truth = Graph(5, [0, 2], [1, 3], 1.0)
    rendered(plot.recovery(truth, Graph(5, [0], [4], 1.0)))
    places = np.arange(10.0).reshape(5, 2)
    left, _ = plot.recovery(truth, truth, places=places)
    assert np.array_equal(left.collections[2].get_offsets(), places)


def test_embedding_is_rasterized_where_there_are_many_points(ax):
    places = np.random.default_rng(0).normal(size=(6_000, 2))
    assert rendered(plot.embedding(places, np.arange(6_000) % 12, ax, title="Many")) is ax
    assert all(points.get_rasterized() for points in ax.collections)
    assert sum(len(points.get_offsets()) for points in ax.collections) == 6_000
    assert len(ax.get_legend().get_texts()) == 12


# --- labels ----------------------------------------------------------------------------------------------------------


def test_hostile_labels_are_drawn_as_they_are(blobs, model):
    labels = np.array(HOSTILE)[np.arange(200) % len(HOSTILE)]
    ax = rendered(plot.drawing(model, labels, title="$ \\bad{"))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "$\\frac{1}{" in names
    assert max(map(len, names)) == 40


def test_labels_of_mixed_types():
    names, classes = check_labels(3, np.array([2, "b", None], dtype=object))
    assert names == ["2", "None", "b"]
    assert classes.tolist() == [0, 2, 1]


# --- saving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "begin"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_is_saved_in_three_formats_and_always_the_same(model, tmp_path, suffix, begin):
    ax = plot.spectrum(model)
    path, again = tmp_path / f"one{suffix}", tmp_path / f"two{suffix.upper()}"
    plot.save(ax, path)
    plot.save(ax.figure, again)
    assert path.read_bytes().startswith(begin)
    if suffix != ".svg":  # whose marks have random names
        assert path.read_bytes() == again.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_what_can_not_be_saved_is_said(model, tmp_path):
    with pytest.raises(ValueError, match=r"'\.bmp' names no format of a picture; use one of \.png, \.svg, \.pdf"):
        plot.save(plot.spectrum(model), tmp_path / "picture.bmp")
    with pytest.raises(TypeError, match="must be a figure or axes"):
        plot.save([], tmp_path / "picture.png")


# --- bad input, and what stays unloaded ------------------------------------------------------------------------------


def test_bad_input(model, ax):
    with pytest.raises(TypeError, match="call fit first"):
        plot.spectrum(GRASPEL())
    with pytest.raises(TypeError, match="history_"):
        plot.convergence(model.graph_)
    with pytest.raises(ValueError, match="dimensions=4"):
        plot.drawing(model, dimensions=4)
    with pytest.raises(ValueError, match='projection="3d"'):
        plot.drawing(model, ax=ax, dimensions=3)
    with pytest.raises(TypeError, match="history_"):
        plot.resistance(model.graph_)
    with pytest.raises(ValueError, match="give two graphs on the same nodes"):
        plot.recovery(model, Graph(2, [0], [1], 1.0))
    with pytest.raises(ValueError, match=r"coordinates has shape \(3,\)"):
        plot.embedding([1, 2, 3])
    with pytest.raises(ValueError, match=r"labels has shape \(1,\); there are 2 points"):
        plot.embedding([[1, 2], [3, 4]], [1])
    with pytest.raises(ValueError, match="n_eigenvalues=1"):
        plot.spectrum(model, n_eigenvalues=1)


def test_what_is_slow_to_import_is_imported_only_where_it_is_needed():
    code = "import graspel.plot, graspel.report, sys; sys.exit(bool({'matplotlib', 'PIL', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
