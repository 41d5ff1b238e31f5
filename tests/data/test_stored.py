"""Matrices in files: read in blocks and in order, never whole, and the same graph as from memory."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.data import stored as stored_matrices
from graspel.data.stored import StoredMatrix, ZarrArray, open_folder
from graspel.data.validation import check_data
from graspel.io.checks import UnusableFile
from graspel.io.tables import read_data

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zarr = pytest.importorskip("zarr")


def write_parquet(folder, X, n_files):
    folder.mkdir()
    for number, part in enumerate(np.array_split(X, n_files)):
        pq.write_table(
            pa.table({f"c{j}": part[:, j] for j in range(X.shape[1])}),
            folder / f"part.{number}.parquet",
            row_group_size=7,
        )
    (folder / "_SUCCESS").touch()


def write_zarr(folder, X, chunks):
    array = zarr.create_array(store=str(folder), shape=X.shape, chunks=chunks, dtype=X.dtype)
    array[:] = X


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(257, 5)).astype(np.float32)


@pytest.mark.parametrize("block_bytes", [1, 999, 1 << 26])
def test_every_kind_of_file_gives_the_same_rows(X, tmp_path, monkeypatch, block_bytes):
    monkeypatch.setattr(stored_matrices, "BLOCK_BYTES", block_bytes)
    write_parquet(tmp_path / "parquet", X, 12)  # part.10 comes after part.9
    write_zarr(tmp_path / "zarr", X, (33, 2))
    for name in ("parquet", "zarr"):
        stored = open_folder(tmp_path / name)
        assert stored.shape == X.shape
        assert stored.dtype == X.dtype
        assert np.array_equal(np.concatenate(list(stored.blocks())), X)
        assert np.array_equal(check_data(GRASPEL(), stored), X)


def test_the_graph_is_that_of_the_array_in_memory(X, tmp_path):
    expected = GRASPEL(random_state=0).fit(X).graph_
    np.save(tmp_path / "x.npy", X)
    write_parquet(tmp_path / "parquet", X, 3)
    write_zarr(tmp_path / "zarr", X, (100, 5))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for stored in (
        mapped,
        open_folder(tmp_path / "parquet"),
        open_folder(tmp_path / "zarr"),
        zarr.open(tmp_path / "zarr"),
    ):
        model = GRASPEL(random_state=0).fit(stored)
        assert model.graph_ == expected
        assert model.n_features_in_ == X.shape[1]


class Counted(StoredMatrix):
    """A matrix that is made while it is read, to see how much of it is held."""

    name, dtype = "X", np.dtype(np.float32)

    def __init__(self, n_blocks, rows):
        self.n_blocks, self.rows, self.shape = n_blocks, rows, (n_blocks * rows, 64)
        self.read = []

    def blocks(self):
        for number in range(self.n_blocks):
            self.read.append(number)
            yield np.full((self.rows, 64), number, dtype=np.float32)


def test_a_matrix_is_read_once_in_order_and_never_held_whole():
    X = Counted(40, 4096)  # 1 MB each
    tracemalloc.start()
    checked = check_data(GRASPEL(), X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert X.read == list(range(40))
    assert peak < 4 * 2**20  # of 40 MB
    assert np.array_equal(checked[::4096, 0], np.arange(40))
    with pytest.raises(TypeError, match="not loaded whole"):
        np.asarray(X)


def test_errors_name_what_is_wrong_and_where(X, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_matrices, "BLOCK_BYTES", 100)
    X[123, 4] = np.nan
    write_zarr(tmp_path / "nan", X, (10, 5))
    with pytest.raises(ValueError, match=r"NaN .row 123, column 4 is the first"):
        GRASPEL().fit(open_folder(tmp_path / "nan"))
    write_zarr(tmp_path / "cube", np.zeros((3, 3, 3)), (3, 3, 3))
    with pytest.raises(UnusableFile, match="a matrix is needed"):
        open_folder(tmp_path / "cube")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnusableFile, match=r"neither a zarr array nor a folder of .parquet"):
        open_folder(tmp_path / "empty")
    group = zarr.open_group(str(tmp_path / "group"), mode="w")
    for name in ("a", "b"):
        group.create_array(name, shape=(2, 2), dtype="f4")
    with pytest.raises(UnusableFile, match="has no array 'X'; it holds a, b"):
        open_folder(tmp_path / "group")
    assert open_folder(tmp_path / "group", "b").shape == (2, 2)


def test_parquet_files_must_fit_each_other(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1.0, 2.0]}), folder / "1.parquet")
    pq.write_table(pa.table({"b": [1.0, 2.0]}), folder / "2.parquet")
    with pytest.raises(UnusableFile, match="other columns"):
        open_folder(folder)
    pq.write_table(pa.table({"a": [1.0, None]}), folder / "2.parquet")
    with pytest.raises(UnusableFile, match="column 'a' has missing values"):
        GRASPEL().fit(open_folder(folder))
    pq.write_table(pa.table({"a": ["x", "y"]}), folder / "1.parquet")
    (folder / "2.parquet").unlink()
    with pytest.raises(UnusableFile, match="column 'a' holds string"):
        open_folder(folder)
    (folder / "1.parquet").write_bytes(b"PAR1")
    with pytest.raises(UnusableFile, match=r"cannot be read as .parquet"):
        open_folder(folder)


def write_one(path, names, rows=3):
    pq.write_table(pa.table({name: np.full(rows, float(at)) for at, name in enumerate(names)}), path)


@pytest.mark.parametrize(
    ("names", "rows", "words"),
    [("ba", 3, "has other columns"), ("a", 3, "has other columns"), ("abc", 3, "has other columns"), ("ab", 2, "rows")],
)
def test_a_folder_that_changes_after_it_was_opened_is_refused(tmp_path, names, rows, words):
    write_one(tmp_path / "1.parquet", "ab")
    write_one(tmp_path / "2.parquet", "ab")
    stored = open_folder(tmp_path)
    write_one(tmp_path / "2.parquet", names, rows)
    with pytest.raises(UnusableFile, match=words):
        check_data(GRASPEL(), stored)
    (tmp_path / "2.parquet").unlink()
    with pytest.raises(UnusableFile, match=r"2\.parquet: cannot be read"):
        check_data(GRASPEL(), stored)


def test_a_claimed_size_is_refused_before_anything_is_allocated(tmp_path):
    """A folder of some hundred bytes: no chunk is there, or one chunk is all rows."""
    zarr.create_array(store=str(tmp_path / "empty.zarr"), shape=(10**9, 3), chunks=(1000, 3), dtype="f4")
    for read in (open_folder, read_data):
        with pytest.raises(UnusableFile, match="claims 1,000,000,000 rows or columns but holds 0 values"):
            read(tmp_path / "empty.zarr")
    tall = zarr.create_array(store=str(tmp_path / "tall"), shape=(10**13, 1), chunks=(10**13, 1), dtype="f4")
    with pytest.raises(UnusableFile, match=r"a row of chunks .* needs 40,000\.0 GB, but .* are free. Write it again"):
        ZarrArray(tall)


def test_a_full_disk_is_found_before_it_is_filled(monkeypatch):
    class Usage:
        free = 1000

    monkeypatch.setattr(stored_matrices.shutil, "disk_usage", lambda folder: Usage)
    with pytest.raises(OSError, match="TMPDIR"):
        GRASPEL().fit(Counted(4, 16))


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    write_zarr(tmp_path / "z", np.zeros((4, 2)), (2, 2))
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r'pip install "graspel\[zarr\]"'):
        open_folder(tmp_path / "z")
