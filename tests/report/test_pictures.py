"""Pictures of the points: thumbnails in sheets that come back as they were, within the budget, and mean pictures."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from graspel import GRASPEL
from graspel.report import pictures as module
from graspel.report.groups import describe_groups
from graspel.report.inputs import check_inputs
from graspel.report.pictures import make_sheets, open_pictures


def open_sheet(sheet):
    return Image.open(io.BytesIO(base64.b64decode(sheet)))


def cut_out(found, place):
    """The thumbnail at some place."""
    side, across = found["side"], found["across"]
    sheet = open_sheet(found["sheets"][place // across**2]).convert("L")
    x, y = place % across**2 % across * side, place % across**2 // across * side
    return np.asarray(sheet.crop((x, y, x + side, y + side)), dtype=float)


def test_every_thumbnail_is_that_of_its_point():
    X = load_digits().data
    pictures, points = open_pictures((8, 8), X, len(X)), np.arange(3, len(X), 1)
    found = make_sheets(pictures, points, np.zeros(len(points), dtype=bool))
    assert found["chosen"] is None
    assert len(found["sheets"]) == 2
    for place in (0, 1, 40, 1023, 1024, len(points) - 1):
        expected = Image.fromarray(pictures.read(int(points[place]))).resize((found["side"],) * 2)
        assert np.corrcoef(cut_out(found, place).ravel(), np.asarray(expected, dtype=float).ravel())[0, 1] > 0.98


def test_thumbnails_become_smaller_and_then_fewer_within_the_budget(monkeypatch):
    images = np.random.default_rng(0).random((1_200, 40, 40, 3))
    pictures, points = open_pictures(images, None, 1_200), np.arange(1_200)
    listed = np.zeros(1_200, dtype=bool)
    listed[[5, 1_199]] = True
    sides = []
    for budget in (2_400_000, 1_000_000, 40_000):
        monkeypatch.setattr(module, "BUDGET", budget)
        found = make_sheets(pictures, points, listed)
        assert sum(map(len, found["sheets"])) <= 1.1 * budget
        sides.append(found["side"])
    assert sides[0] > sides[1] >= sides[2] == min(module.SIDES)
    assert {5, 1_199} <= set(found["chosen"].tolist()), "points that are listed come first"
    assert len(found["chosen"]) < 1_200


def test_the_mean_picture_of_a_group(blobs):
    X, y = load_digits(return_X_y=True)
    model = GRASPEL(max_iter=0, random_state=0).fit(X)
    groups = describe_groups(check_inputs(model, clusters=y, images=(8, 8)))
    for k, group in enumerate(groups):
        picture = np.asarray(open_sheet(group.picture), dtype=float)
        assert np.abs(picture / 255 * 16 - X[y == k].mean(axis=0).reshape(8, 8)).max() < 0.1
        assert len(group.differences) == 0, "single pixels say nothing"


@pytest.mark.parametrize("kind", [np.uint8, np.float32, bool])
def test_values_of_any_kind(kind):
    images = (np.random.default_rng(0).random((5, 4, 6)) * (255 if kind == np.uint8 else 1)).round().astype(kind)
    pictures = open_pictures(images, None, 5)
    assert pictures.read(3).shape == (4, 6)
    assert pictures.read(3).dtype == np.uint8


def test_constant_pictures_do():
    assert open_pictures(np.ones((3, 4, 4)), None, 3).read(0).shape == (4, 4)


@pytest.mark.parametrize("shape", [(120, 2, 2, 4), (120, 2), (120,), (119, 2, 2)])
def test_arrays_that_are_no_pictures_are_refused(shape):
    with pytest.raises((ValueError, TypeError), match="images"):
        open_pictures(np.zeros(shape), None, 120)
