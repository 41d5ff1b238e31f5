"""Lines of CSV files: the readers of tables, labels and edge lists agree on encodings, blank lines and delimiters."""

from __future__ import annotations

import pytest

from graspel.graph import Graph
from graspel.io.checks import UnusableFile
from graspel.io.csv_files import find_delimiter, number_lines, open_text
from graspel.io.point_files import read_labels
from graspel.io.tables import read_data

READERS = {
    "table": lambda path: read_data(path).tolist(),
    "labels": lambda path: read_labels(path, 2, path),
    "graph": Graph.read,
}
TEXTS = {"table": "a\n1\n2\n", "labels": "a\n1\n2\n", "graph": "head,tail,weight\n0,1,2.5\n"}


@pytest.mark.parametrize("kind", READERS)
def test_another_encoding_is_refused_by_every_reader(kind, tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes("größe\n1\n2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"file\.csv.* is not a text file in UTF-8 \(.*\)"):
        READERS[kind](path)


@pytest.mark.parametrize("kind", READERS)
def test_a_byte_order_mark_and_other_line_ends_make_no_difference(kind, tmp_path):
    path = tmp_path / "file.csv"
    path.write_text(TEXTS[kind])
    plain = READERS[kind](path)
    path.write_bytes(b"\xef\xbb\xbf" + TEXTS[kind].replace("\n", "\r\n").encode())
    assert READERS[kind](path) == plain
    path.write_text(TEXTS[kind].replace("\n", "\n\n"))
    assert READERS[kind](path) == plain


def test_a_file_that_is_not_gzip(tmp_path):
    path = tmp_path / "file.csv.gz"
    path.write_text("1\n2\n")
    with pytest.raises(UnusableFile, match=r"file\.csv\.gz: cannot .*it cannot be unpacked, since it is truncated"):
        read_data(path)


@pytest.mark.parametrize(
    ("line", "delimiter"), [("1,2", ","), ("1;2", ";"), ("1\t2", "\t"), ("1,5;2,5", ";"), ("1;2\t3", "\t"), ("", ",")]
)
def test_delimiters(line, delimiter):
    assert find_delimiter(line) == delimiter


def test_blank_lines_are_counted_but_skipped(tmp_path):
    (tmp_path / "file.csv").write_text("\na\n  \nb")
    with open_text(tmp_path / "file.csv") as file:
        assert list(number_lines(file)) == [(2, "a\n"), (4, "b")]
