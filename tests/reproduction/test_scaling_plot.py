"""The chart of seconds against size: its exponents, and a sentence for times that do not fit the sizes."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.scaling_plot import scaling


def test_scaling_writes_exponents():
    sizes = np.array([1e3, 1e4, 1e5])
    ax = scaling(sizes, {"ours": sizes, "theirs": [1.0, 100.0, None], "once": [1.0, None, None]})
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["ours: $N^{1.00}$", "theirs: $N^{2.00}$", "once"]
    with pytest.raises(ValueError, match="ours has 1 times for 2 sizes"):
        scaling([1, 2], {"ours": [1.0]})
