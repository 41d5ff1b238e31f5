"""Data files: every format reads the same points, and a bad file is named with what is wrong with it."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from graspel.io.tables import read_data


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(6, 3))


def write_csv(path, X, header="", delimiter=","):
    np.savetxt(path, X, fmt="%.17g", delimiter=delimiter, header=header, comments="")
    return path


def write_parquet(path, **columns):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)
    return path


class TestGoodFiles:
    def test_npy_is_memory_mapped(self, X, tmp_path):
        X = np.tile(X, (1000, 1))
        np.save(tmp_path / "x.npy", X)
        read = read_data(tmp_path / "x.npy")
        assert isinstance(read, np.memmap)
        assert not read.flags.writeable
        assert np.array_equal(read, X)

    def test_npz_with_X_or_one_array_or_a_key(self, X, tmp_path):
        np.savez(tmp_path / "a.npz", X=X, y=X[:, 0])
        np.savez(tmp_path / "b.npz", points=X)
        np.savez(tmp_path / "c.npz", train=X, test=X + 1)
        assert np.array_equal(read_data(tmp_path / "a.npz"), X)
        assert np.array_equal(read_data(tmp_path / "b.npz"), X)
        assert np.array_equal(read_data(tmp_path / "c.npz", key="test"), X + 1)

    def test_sparse_npz(self, X, tmp_path):
        sp.save_npz(tmp_path / "x.npz", sp.csr_array(X))
        assert np.array_equal(read_data(tmp_path / "x.npz").toarray(), X)

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    @pytest.mark.parametrize("header", ["", "a b c"])
    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
    def test_csv(self, X, tmp_path, delimiter, header, suffix):
        path = write_csv(tmp_path / f"x{suffix}", X, header.replace(" ", delimiter), delimiter)
        assert np.array_equal(read_data(path), X)

    def test_csv_as_spreadsheets_write_it(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_bytes(b'\xef\xbb\xbf"width","height"\r\n"1","2.5"\r\n\r\n3,4e2\r\n')
        assert read_data(path).tolist() == [[1.0, 2.5], [3.0, 400.0]]

    def test_csv_header_of_numbers(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("id,1,2\n5,6,7\n8,9,10\n")
        assert read_data(path, header=True).tolist() == [[5.0, 6.0, 7.0], [8.0, 9.0, 10.0]]

    def test_one_column(self, tmp_path):
        (tmp_path / "column.csv").write_text("1\n2\n3\n")
        assert read_data(tmp_path / "column.csv").shape == (3, 1)

    def test_parquet(self, X, tmp_path):
        path = write_parquet(tmp_path / "x.parquet", a=X[:, 0], b=X[:, 1], c=X[:, 2])
        assert np.array_equal(read_data(path), X)

    @pytest.mark.parametrize("make", [np.asarray, sp.coo_array])
    def test_mtx(self, X, tmp_path, make):
        scipy.io.mmwrite(tmp_path / "x.mtx", make(X), precision=17)
        read = read_data(tmp_path / "x.mtx")
        assert np.array_equal(read if isinstance(read, np.ndarray) else read.toarray(), X)

    def test_the_suffix_may_be_in_capitals(self, X, tmp_path):
        with open(tmp_path / "X.NPY", "wb") as file:
            np.save(file, X)
        assert np.array_equal(read_data(tmp_path / "X.NPY"), X)


class TestBadFiles:
    @pytest.fixture
    def refused(self, graspel, tmp_path):
        def check(path, *words, options=()):
            output = tmp_path / "out.npz"
            outcome = graspel("learn", path, "-o", output, *options)
            assert outcome.is_one_sentence(path.name, *words)
            assert not output.exists()

        return check

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".mtx"])
    def test_missing(self, refused, tmp_path, suffix):
        refused(tmp_path / f"x{suffix}", "does not exist")

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".mtx"])
    def test_empty(self, refused, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        path.touch()
        refused(path, "is empty")

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".mtx"])
    def test_a_folder(self, refused, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        path.mkdir()
        refused(path, "folder")

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".mtx"])
    @pytest.mark.parametrize(
        "content",
        [b"\x00\x01\xfe\xff" * 50, b"PK\x03\x04" + bytes(40), b"\x93NUMPY\x01\x00v"],
        ids=["bytes", "almost zip", "almost npy"],
    )
    def test_rubbish(self, refused, tmp_path, suffix, content):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(content)
        refused(path)

    @pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv.gz", ".parquet", ".mtx"])
    def test_truncated(self, refused, tmp_path, suffix, share):
        X = np.random.default_rng(0).normal(size=(300, 3))
        path = tmp_path / f"x{suffix}"
        if suffix == ".npy":
            np.save(path, X)
        elif suffix == ".npz":
            np.savez_compressed(path, X=X)
        elif suffix == ".csv.gz":
            write_csv(path, X)
        elif suffix == ".parquet":
            write_parquet(path, a=X[:, 0], b=X[:, 1])
        else:
            scipy.io.mmwrite(path, X)
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])
        refused(path)

    def test_truncated_csv_has_a_short_last_line(self, refused, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("1,2,3\n4,5,6\n7,8")
        refused(path, "line 3", "2 cells", "have 3")

    def test_one_row(self, refused, tmp_path):
        (tmp_path / "row.csv").write_text("1,2,3\n")
        refused(tmp_path / "row.csv", "one point")

    @pytest.mark.parametrize("size", ["0 3", "3 0"])
    def test_mtx_without_points(self, refused, tmp_path, size):
        path = tmp_path / "x.mtx"
        path.write_text(f"%%MatrixMarket matrix array real general\n{size}\n1.0\n")
        refused(path, "no numbers")

    def test_unknown_suffix(self, refused, tmp_path):
        for name, words in (
            ("x.doc", "the suffix '.doc' names no format of a data matrix"),
            ("x", "a suffix must name the format of a data matrix"),
        ):
            (tmp_path / name).write_text("1,2\n")
            refused(tmp_path / name, words, ".csv.gz")

    def test_not_permitted(self, refused, tmp_path, monkeypatch):
        import graspel.io.tables as data_files

        def deny(path, **_):
            raise PermissionError(13, "Permission denied", str(path))

        path = tmp_path / "x.csv"
        path.write_text("1,2\n")
        monkeypatch.setitem(data_files._READERS, ".csv", deny)  # root may read anything
        refused(path, "permission denied")

    def test_npz_without_the_array(self, refused, tmp_path):
        path = tmp_path / "x.npz"
        np.savez(path, train=np.eye(3), test=np.eye(3))
        refused(path, "no array 'X'", "train, test", "--key")
        refused(path, "no array 'valid'", options=["--key", "valid"])

    def test_key_for_another_format(self, refused, data):
        refused(data, "--key", options=["--key", "X"])

    @pytest.mark.parametrize("suffix", [".npy", ".npz"])
    def test_pickled_objects(self, refused, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        (np.save if suffix == ".npy" else np.savez)(path, np.array([[1, "a"], [None, 2]], dtype=object))
        refused(path, "objects", "real numbers")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("a,b\n1,2\n3,x\n", ["line 3", "column 2", "'x' is not a number"]),
            ("a,b\n1,2\n\n3,\n", ["line 4", "column 2", "empty"]),
            ("1,2\n3,4,5\n", ["line 2", "3 cells", "have 2"]),
            ("1,x\n3,4\n", ["line 1", "column 2", "'x'", "--header"]),
            ("a,b\n", ["no numbers", "header"]),
            ("\n\n", ["no numbers"]),
            ("1;2,5\n3;4,5,6\n", ["line 1", "column 2", "'2,5'"]),
            ("1,2\n3,4_5\n", ["line 2", "column 2"]),
        ],
    )
    def test_csv_names_line_and_column(self, refused, tmp_path, text, words):
        path = tmp_path / "x.csv"
        path.write_text(text)
        refused(path, *words)

    def test_csv_gz_that_is_no_gzip(self, refused, tmp_path):
        path = tmp_path / "x.csv.gz"
        path.write_text("1,2\n3,4\n")
        refused(path, "gzip")

    def test_csv_in_another_encoding(self, refused, tmp_path):
        path = tmp_path / "x.csv.gz"
        with gzip.open(path, "wb") as file:
            file.write("größe,höhe\n1,2\n".encode("latin-1"))
        refused(path, "UTF-8")

    def test_parquet_with_text(self, refused, tmp_path):
        refused(write_parquet(tmp_path / "x.parquet", a=[1, 2], name=["x", "x"]), "'name'", "text", "--drop name")

    def test_parquet_with_missing_values(self, refused, tmp_path):
        refused(write_parquet(tmp_path / "x.parquet", a=[1, 2], b=[1.0, None]), "'b'", "empty", "--impute graph")

    def test_parquet_without_columns(self, refused, tmp_path):
        refused(write_parquet(tmp_path / "x.parquet"), "no columns")
