"""Pictures as points: those of a folder, and arrays of pictures, are rows of pixels, and the report shows them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from cli.conftest import call_in_process
from graspel.io.checks import UnusableFile
from graspel.io.picture_files import read_pictures
from graspel.io.tables import read_table

DIGITS = load_digits().images[:60].astype(np.uint8) * 15


@pytest.fixture
def graspel(capfd):
    from graspel.cli import main

    return call_in_process(main, capfd)


@pytest.fixture
def folder(tmp_path):
    """Sixty digits as files."""
    folder = tmp_path / "digits"
    folder.mkdir()
    for at, picture in enumerate(DIGITS):
        Image.fromarray(picture).save(folder / f"{at:02}.png")
    return folder


def test_a_folder_is_read_in_the_order_of_names(folder):
    points = read_pictures(folder)
    np.testing.assert_array_equal(points.X, DIGITS.reshape(60, 64))
    assert points.pictures == (8, 8)
    assert points.names[:2] == ["00.png", "01.png"]
    Image.new("RGB", (8, 8), "red").save(folder / "60.png")
    colored = read_pictures(folder)
    assert colored.pictures == (8, 8, 3)
    np.testing.assert_array_equal(colored.X[-1].reshape(8, 8, 3)[0, 0], [255, 0, 0])


@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 1), (4, 8, 3)])
def test_an_array_of_pictures_becomes_rows(tmp_path, shape):
    X = np.random.default_rng(0).random((5, *shape))
    np.save(tmp_path / "X.npy", X)
    np.savez(tmp_path / "X.npz", X=X)
    for name in ("X.npy", "X.npz"):
        points = read_table(tmp_path / name)
        np.testing.assert_array_equal(points.X, X.reshape(5, -1))
        assert points.pictures == shape


def test_other_arrays_are_refused(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((5, 4, 4, 7)))
    with pytest.raises(UnusableFile, match="flatten it"):
        read_table(tmp_path / "X.npy")


def test_what_is_no_picture_or_of_another_size_is_named(folder):
    Image.new("L", (9, 8)).save(folder / "60.png")
    with pytest.raises(UnusableFile, match=r"60.png is 9 x 8 pixels large, but 00.png is 8 x 8"):
        read_pictures(folder)
    (folder / "60.png").write_bytes(b"no picture")
    with pytest.raises(UnusableFile, match=r"60.png cannot be read as a picture"):
        read_pictures(folder)


def test_the_report_shows_them_without_being_told(graspel, folder, tmp_path):
    np.save(tmp_path / "digits.npy", DIGITS)
    for source in (folder, tmp_path / "digits.npy"):
        assert graspel("report", source, "-o", tmp_path / "report.html", "-k", 4, "-q").code == 0
        assert '"sheets":' in (tmp_path / "report.html").read_text(encoding="utf-8")
    out, model = tmp_path / "clusters.csv", tmp_path / "model.npz"
    assert graspel("cluster", folder, "-k", 4, "-o", out, "--save-model", model, "-q").code == 0
    assert out.read_text().startswith("id,cluster\n00.png,")
    before = out.read_text()
    assert graspel("predict", model, folder, "-o", out, "-q").code == 0
    assert out.read_text() == before
    assert graspel("report", folder, "-o", out.with_suffix(".html"), "--drop", "1").is_one_sentence("no columns")
