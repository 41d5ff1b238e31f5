"""The picture of an embedding: drawn for any number of dimensions and classes, and clear about what it cannot draw."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.plot import embedding, save


@pytest.mark.parametrize(("n_components", "n_classes"), [(1, 0), (2, 1), (2, 12), (3, 60)])
def test_it_is_drawn(tmp_path, n_components, n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=80) if n_classes else None
    ax = embedding(rng.standard_normal((80, n_components)), labels, title="Some points", subtitle="80 of them")
    save(ax, tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 5_000
    assert ax.get_title(loc="left") + ax.get_title() == "Some points"


def test_all_points_at_one_place(tmp_path):
    save(embedding(np.zeros((20, 2)), np.arange(20) % 3), tmp_path / "p.png")
    assert (tmp_path / "p.png").exists()


def test_what_can_not_be_drawn():
    with pytest.raises(ValueError, match=r"coordinates has shape \(5,\)"):
        embedding(np.zeros(5))
    with pytest.raises(ValueError, match="there are 5 points"):
        embedding(np.zeros((5, 2)), [1, 2, 3, 4])
