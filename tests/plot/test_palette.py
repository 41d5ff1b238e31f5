"""The palette: ten colors that stay apart for every kind of sight, and names fit for a picture."""

from __future__ import annotations

import numpy as np
import pytest

from graspel.plot.canvas import COLORS, MARKERS, clip_name

# How colors look without one kind of cone (Machado, Oliveira and Fernandes, 2009), on linear RGB.
SIGHT = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(rgb):
    """CIE L*a*b* of linear RGB, where equal steps look equal."""
    ratio = rgb @ XYZ.T / XYZ.sum(axis=1)
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


@pytest.mark.parametrize("sight", SIGHT)
def test_all_colors_are_told_apart(sight):
    rgb = np.array([[int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)] for color in COLORS])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = lab(np.clip(linear @ np.array(SIGHT[sight]).T, 0.0, 1.0))
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    assert apart[np.triu_indices(len(COLORS), 1)].min() > 15


def test_eighty_classes_have_looks_of_their_own():
    assert len(set(COLORS)) * len(set(MARKERS)) == 80


def test_names_are_one_short_line_that_turns_nothing_around():
    assert clip_name("a\u202eb\x00c\td") == "ab c d"
    assert len(clip_name("x" * 10_000)) == 40
    assert clip_name("👩‍🔬") == "👩‍🔬"
