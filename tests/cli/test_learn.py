"""``graspel learn``: options, output, and what it says when the input is bad."""

from __future__ import annotations

import errno
import json
import os
import re

import numpy as np
import pytest

from graspel.graph import Graph


def test_options_reach_the_estimator(graspel, data, tmp_path, monkeypatch):
    from graspel.estimators.learner import GRASPEL

    seen = {}
    fit = GRASPEL.fit

    def spy(self, X, **options):
        seen.update(self.get_params())
        return fit(self, X, **options)

    monkeypatch.setattr(GRASPEL, "fit", spy)
    options = ["-n", 3, "--metric", "cosine", "--set", "tol=1e2", "--set", "window=0.1", "--set", "weights=refined"]
    options += ["--seed", 7, "--set", "max_iter=2", "--jobs", 1]
    assert graspel("learn", data, "-o", tmp_path / "g.npz", "--quiet", *options).code == 0
    given = {"n_neighbors": 3, "metric": "cosine", "tol": 100.0, "window": 0.1, "weights": "refined"}
    given |= {"random_state": 7, "max_iter": 2, "n_jobs": 1}
    assert given.items() <= seen.items()
    assert {name: seen[name] for name in seen.keys() - given} == {
        name: value for name, value in GRASPEL().get_params().items() if name not in given
    }


def test_two_runs_agree(graspel, data, tmp_path):
    for name in ("a.npz", "b.npz"):
        assert graspel("learn", data, "-o", tmp_path / name, "-q").code == 0
    assert Graph.read(tmp_path / "a.npz") == Graph.read(tmp_path / "b.npz")


@pytest.mark.parametrize("suffix", [".npz", ".mtx", ".graphml", ".csv", ".parquet"])
def test_the_suffix_tells_the_format(graspel, data, tmp_path, suffix):
    output = tmp_path / f"graph{suffix}"
    assert graspel("learn", data, "-o", output).code == 0
    graph = Graph.read(output)
    assert graph.n_nodes == 60
    assert graph.is_connected


def test_the_certificate_is_verdicts_in_words(graspel, data, tmp_path):
    from graspel.estimators.learner import GRASPEL
    from graspel.findings.verdicts import judge

    outcome = graspel("learn", data, "-o", tmp_path / "g.npz")
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    for row in judge(GRASPEL(random_state=0).fit(np.load(data)).certificate_).rows():
        assert f"{row['rating']} {row['question']} {row['answer']}" in said
    assert "\x1b" not in outcome.out + outcome.err, "no drawing outside a terminal"
    assert re.match(r"reading \(points.npy\) \.\.\.\n", outcome.err)


def test_json_is_strict_and_alone(graspel, data, tmp_path):
    outcome = graspel("learn", data, "-o", tmp_path / "g.npz", "--json", "--seed", 0)
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out.count("\n") == 1

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    certificate = json.loads(outcome.out, parse_constant=refuse)
    assert certificate["connected"] is True


def test_quiet_prints_nothing(graspel, data, tmp_path):
    outcome = graspel("learn", data, "-o", tmp_path / "g.npz", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_a_graph_file_can_be_the_start(graspel, data, tmp_path):
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    assert graspel("learn", data, "-o", first, "-q", "--set", "initial=mst").code == 0
    assert graspel("learn", data, "-o", second, "-q", "--set", f"initial={first}").code == 0
    assert Graph.read(second).is_connected


@pytest.mark.parametrize("command", ["learn", "cluster", "report"])
def test_a_start_graph_is_not_overwritten(graspel, data, tmp_path, command):
    """Also where the output is a link to it."""
    start = tmp_path / "start.npz"
    assert graspel("learn", data, "-o", start, "-q", "--set", "initial=mst").code == 0
    before = start.read_bytes()
    suffix = {"learn": ".npz", "cluster": ".csv", "report": ".html"}[command]
    link = tmp_path / f"link{suffix}"
    link.symlink_to(start)
    assert graspel(command, data, "-o", link, "--set", f"initial={start}").is_one_sentence(
        link.name, "is a file to be read"
    )
    if command == "cluster":
        more = ("-o", tmp_path / "c.csv", "--save-graph", start)
        assert graspel("cluster", data, *more, "--set", f"initial={start}").is_one_sentence(
            "start.npz", "is a file to be read"
        )
    assert start.read_bytes() == before


def test_a_known_graph_is_not_overwritten(graspel, data, tmp_path, graph_file):
    before = graph_file.read_bytes()
    outcome = graspel("recover", data, "-o", graph_file, "--truth", graph_file)
    assert outcome.is_one_sentence("graph.npz", "is a file to be read")
    assert graph_file.read_bytes() == before


def test_a_start_graph_that_does_not_fit_or_exist(graspel, data, tmp_path, graph_file):
    output = tmp_path / "g.npz"
    assert graspel("learn", data, "-o", output, "--set", f"initial={graph_file}").is_one_sentence("5", "60")
    assert graspel("learn", data, "-o", output, "--set", "initial=knm").is_one_sentence("knm", "knn", "mst")
    assert not output.exists()


@pytest.mark.long
def test_the_same_seed_gives_the_same_file_in_a_new_process(graspel, graspel_process, data, tmp_path):
    assert graspel("learn", data, "-o", tmp_path / "a.npz", "--seed", 0).code == 0
    assert graspel_process("learn", data, "-o", tmp_path / "b.npz", "--seed", 0).code == 0
    assert Graph.read(tmp_path / "a.npz") == Graph.read(tmp_path / "b.npz")


def bad_points(tmp_path, X):
    path = tmp_path / "bad.npy"
    np.save(path, X)
    return path


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.array([[0.0, np.nan], [1.0, 2.0], [3.0, 4.0]]), ["NaN"]),
        (np.array([[0.0, np.inf], [1.0, 2.0], [3.0, 4.0]]), ["infinity"]),
        (np.zeros((1, 3)), ["one point", "(1, 3)"]),
        (np.zeros((0, 3)), ["no numbers", "(0, 3)"]),
        (np.zeros((3, 0)), ["no numbers", "(3, 0)"]),
        (np.array(1.0), ["()", "one point per row"]),
        (np.arange(5.0), ["(5,)", "(5, 1)"]),
        (np.zeros((7, 2, 3, 5)), ["(7, 2, 3, 5)", "(7, 30)"]),
        (np.array([["a", "b"], ["c", "d"]]), ["text", "real numbers"]),
        (np.ones((4, 2)) * 1j, ["complex"]),
    ],
    ids=["nan", "inf", "one point", "no points", "no features", "0-D", "1-D", "4-D", "strings", "complex"],
)
def test_bad_points_are_refused_in_one_sentence(graspel, tmp_path, X, words):
    output = tmp_path / "g.npz"
    assert graspel("learn", bad_points(tmp_path, X), "-o", output).is_one_sentence(*words)
    assert not output.exists()


@pytest.mark.parametrize(
    "setting",
    [
        "window=0.9",
        "n_neighbors=0",
        "n_neighbors=60",
        "metric=taxi",
        "candidates=all",
        "stability=never",
        "tol=-1",
        "tol=nan",
        "max_iter=-1",
        "edge_ratio=0",
        "sigma=0",
        "beta=-1",
    ],
)
def test_parameters_out_of_range_are_refused_in_one_sentence(graspel, data, tmp_path, setting):
    name, _, value = setting.partition("=")
    options = {"n_neighbors": ("-n", value), "metric": ("--metric", value)}.get(name, ("--set", setting))
    assert graspel("learn", data, "-o", tmp_path / "g.npz", *options).is_one_sentence(name)


@pytest.fixture
def no_work(monkeypatch):
    """Fail if learning starts."""
    from graspel.estimators.learner import GRASPEL

    def fail(self, X, y=None):
        raise AssertionError("the work has started")

    monkeypatch.setattr(GRASPEL, "fit", fail)


@pytest.mark.usefixtures("no_work")
class TestTheOutputIsCheckedFirst:
    def test_the_folder_does_not_exist(self, graspel, data, tmp_path):
        assert graspel("learn", data, "-o", tmp_path / "no" / "g.npz").is_one_sentence("does not exist", "mkdir")

    def test_it_is_a_folder(self, graspel, data, tmp_path):
        (tmp_path / "g.npz").mkdir()
        assert graspel("learn", data, "-o", tmp_path / "g.npz").is_one_sentence("is a folder")

    @pytest.mark.parametrize("name", ["g.txt", "g"])
    def test_the_suffix_is_unknown(self, graspel, data, tmp_path, name):
        assert graspel("learn", data, "-o", tmp_path / name).is_one_sentence("suffix", ".graphml")

    def test_the_folder_is_not_writable(self, graspel, data, tmp_path, monkeypatch):
        monkeypatch.setattr(os, "access", lambda _, mode, **__: not mode & os.W_OK)  # root may write anywhere
        assert graspel("learn", data, "-o", tmp_path / "g.npz").is_one_sentence("not writable")

    def test_it_is_the_data(self, graspel, points, tmp_path):
        path = tmp_path / "points.npz"
        np.savez(path, X=points)
        assert graspel("learn", path, "-o", path).is_one_sentence("is a file to be read")

    def test_pyarrow_is_missing(self, graspel, data, tmp_path, monkeypatch):
        monkeypatch.setattr("graspel.runtime.optional.find_spec", lambda _: None)
        assert graspel("learn", data, "-o", tmp_path / "g.parquet").is_one_sentence("pyarrow", "pip install")


def test_a_full_disk_leaves_what_was_there(graspel, data, tmp_path, monkeypatch):
    from graspel.io import graph_files

    def write(graph, path):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setitem(graph_files.FORMATS, ".npz", graph_files.FORMATS[".npz"]._replace(write=write))
    output = tmp_path / "out" / "g.npz"
    output.parent.mkdir()
    output.write_bytes(b"before")
    assert graspel("learn", data, "-o", output).is_one_sentence("g.npz", "disk is full")
    assert [path.name for path in output.parent.iterdir()] == ["g.npz"]
    assert output.read_bytes() == b"before"


def test_folders_of_zarr_and_parquet_are_read(graspel, tmp_path):
    zarr, pa = pytest.importorskip("zarr"), pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.save(tmp_path / "points.npy", X)
    zarr.create_array(store=str(tmp_path / "points.zarr"), shape=X.shape, chunks=(7, 2), dtype=X.dtype)[:] = X
    (tmp_path / "parquet").mkdir()
    pq.write_table(pa.table(dict(zip("abc", X.T, strict=True))), tmp_path / "parquet" / "0.parquet")
    graphs = []
    for name in ("points.npy", "points.zarr", "parquet"):
        output = tmp_path / f"{name}.npz"
        assert graspel("learn", tmp_path / name, "-o", output, "--seed", 0).code == 0
        graphs.append(Graph.load(output))
    assert graphs[0] == graphs[1] == graphs[2]


def test_points_on_a_dask_cluster(graspel, tmp_path):
    zarr, distributed = pytest.importorskip("zarr"), pytest.importorskip("distributed")
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.save(tmp_path / "points.npy", X)
    zarr.create_array(store=str(tmp_path / "points.zarr"), shape=X.shape, chunks=(7, 2), dtype=X.dtype)[:] = X
    output = tmp_path / "g.npz"
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None, protocol="tcp") as cluster:
        address = cluster.scheduler_address
        assert graspel("learn", tmp_path / "points.zarr", "-o", output, "--seed", 0, "--dask", address).code == 0
    assert Graph.load(output).is_connected
    outcome = graspel("learn", tmp_path / "points.npy", "-o", output, "--dask", address)
    assert outcome.is_one_sentence("not a zarr array")


def test_too_little_memory_is_one_sentence(graspel, data, tmp_path, monkeypatch):
    from graspel.estimators.learner import GRASPEL

    def fit(self, X, **options):
        raise MemoryError("Unable to allocate 8.00 TiB for an array")

    monkeypatch.setattr(GRASPEL, "fit", fit)
    assert graspel("learn", data, "-o", tmp_path / "g.npz").is_one_sentence("memory", "fewer points")


def test_a_real_process_fails_without_a_traceback(graspel, graspel_process, tmp_path):
    output = tmp_path / "g.npz"
    assert graspel_process("learn", "no.npy", "-o", output).is_one_sentence("no.npy", "does not exist")
    assert graspel("learn", tmp_path, "-o", output).is_one_sentence("is a folder")
    assert not output.exists()


def test_the_output_replaces_no_file_of_the_checkpoint(graspel, data, tmp_path):
    folder = tmp_path / "run"
    assert graspel("learn", data, "-o", tmp_path / "g.npz", "--checkpoint", folder, "-q").code == 0
    kept = (folder / "rounds.npz").read_bytes()
    assert graspel("learn", data, "-o", folder / "rounds.npz", "--checkpoint", folder).code == 2
    assert (folder / "rounds.npz").read_bytes() == kept
