"""``graspel cluster``: options, files, summary, and what it says when the input is bad."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from graspel import GraspelClustering
from graspel.graph import Graph

TRUTH = np.repeat([0, 1], 30)


def written(path):
    """The clusters in a file."""
    if path.suffix == ".npy":
        return np.load(path)
    name, *rows = path.read_text().splitlines()
    assert name == "cluster"
    return np.array([int(row) for row in rows])


def words_of(text):
    return " ".join(text.split())


@pytest.fixture
def output(tmp_path):
    return tmp_path / "clusters.csv"


@pytest.fixture
def classes(tmp_path):
    """The blob of each point, as a file."""
    path = tmp_path / "classes.csv"
    path.write_text("blob\n" + "".join(f"{'left' if label else 'right'}\n" for label in TRUTH))
    return path


@pytest.fixture
def in_components(tmp_path):
    """A graph of three components as a file: two edges and a single node."""
    path = tmp_path / "components.npz"
    Graph(5, [0, 2], [1, 3], 1.0).save(path)
    return path


# --- clusters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clusters.csv", "clusters.npy", "CLUSTERS.CSV"])
def test_the_blobs_are_found_and_written_in_the_order_of_the_points(graspel, data, tmp_path, name):
    assert graspel("cluster", data, "-k", 2, "-o", tmp_path / name, "-q").code == 0
    assert written(tmp_path / name).tolist() == TRUTH.tolist()


@pytest.mark.parametrize("k", [1, 3, 60])
def test_as_many_clusters_as_asked_for(graspel, data, output, k):
    assert graspel("cluster", data, "-k", k, "-o", output, "-q").code == 0
    assert len(np.unique(written(output))) == k


def test_the_clusters_are_those_of_the_estimator(graspel, data, points, output):
    assert graspel("cluster", data, "-k", 5, "-o", output, "--seed", 3, "-q").code == 0
    assert written(output).tolist() == GraspelClustering(5, random_state=3).fit(points).labels_.tolist()


def test_options_reach_the_learner_and_the_head(graspel, data, output, monkeypatch):
    from graspel.estimators.learner import GRASPEL

    seen, learn = {}, GRASPEL._learn

    def spy(model, *given, **options):
        seen.update(model.get_params())
        return learn(model, *given, **options)

    monkeypatch.setattr(GRASPEL, "_learn", spy)
    given = {"n_neighbors": 3, "metric": "cosine", "initial": "mst", "max_iter": 2}
    options = [part for name, value in given.items() for part in ("--set", f"learner__{name}={value}")]
    options += ["--seed", 7, "--jobs", 1, "--set", "assign_labels=paper"]
    assert graspel("cluster", data, "-k", 2, "-o", output, "-q", *options).code == 0
    given |= {"random_state": 7, "n_jobs": 1}
    assert given.items() <= seen.items()
    assert {name: seen[name] for name in seen.keys() - given} == {
        name: value for name, value in GRASPEL().get_params().items() if name not in given
    }


def test_without_options_the_learner_is_that_of_the_estimator(graspel, data, output, monkeypatch):
    from graspel.estimators.learner import GRASPEL

    seen, learn = [], GRASPEL._learn

    def spy(model, *given, **options):
        seen.append(model.get_params())
        return learn(model, *given, **options)

    monkeypatch.setattr(GRASPEL, "_learn", spy)
    assert graspel("cluster", data, "-o", output, "-q").code == 0
    GraspelClustering(random_state=0).fit(np.load(data))
    assert len(seen) == 2
    assert seen[0] == seen[1]


def test_the_same_seed_gives_the_same_file_in_a_new_process(graspel, graspel_process, data, tmp_path):
    for run, name in ((graspel, "a.csv"), (graspel_process, "b.csv")):
        arguments = ("cluster", data, "-k", 4, "-o", tmp_path / name, "--set", "assign_labels=paper")
        assert run(*arguments).code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


# --- graphs -----------------------------------------------------------------------------------------------------------


def test_a_graph_that_was_kept_gives_the_same_clusters(graspel, data, tmp_path):
    first, second, graph = tmp_path / "first.csv", tmp_path / "second.csv", tmp_path / "kept.npz"
    alone = ("--set", "consensus=1", "-q")
    assert graspel("cluster", data, "-k", 4, "-o", first, "--save-graph", graph, *alone).code == 0
    assert Graph.read(graph).is_connected
    assert graspel("cluster", "--graph", graph, "-k", 4, "-o", second, "--seed", 0, "-q").code == 0
    assert first.read_bytes() == second.read_bytes()
    assert graspel("cluster", data, "--graph", graph, "-k", 4, "-o", second, "--seed", 0, "-q").code == 0
    assert first.read_bytes() == second.read_bytes()


def test_components_are_clusters(graspel, in_components, output):
    outcome = graspel("cluster", "--graph", in_components, "-o", output)
    assert outcome.code == 0
    assert written(output).tolist() == [0, 0, 1, 1, 2]
    assert "as many as the graph has components" in words_of(outcome.out)


def test_fewer_clusters_than_components(graspel, in_components, tmp_path, output):
    outcome = graspel("cluster", "--graph", in_components, "-k", 2, "-o", output)
    assert outcome.is_one_sentence("components.npz", "3 components", "at least 3", f"--set initial={in_components}")
    assert not output.exists()
    np.save(tmp_path / "five.npy", np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]))
    advised = ("cluster", tmp_path / "five.npy", "--set", f"initial={in_components}", "-k", 2, "-o", output, "-q")
    assert graspel(*advised).code == 0
    assert written(output).tolist() == [0, 0, 1, 1, 1]


# --- summary ----------------------------------------------------------------------------------------------------------


def test_the_summary_is_readable(graspel, data, classes, tmp_path, output):
    outcome = graspel(
        "cluster", data, "-k", 2, "-o", output, "--labels", classes, "--save-graph", tmp_path / "g.npz", "--seed", 0
    )
    assert outcome.code == 0
    said = words_of(outcome.out)
    for words in ("as asked for", "30, 30", "density 1.", "2 classes", "seconds", "clusters.csv", "g.npz"):
        assert words in said, words
    for score in ("ACC", "NMI", "ARI"):
        assert f"{score} 1.0000" in said
    assert "\x1b" not in outcome.out + outcome.err, "no drawing outside a terminal"
    assert re.match(r"reading \(points.npy\) \.\.\.\n", outcome.err)


def test_auto_says_what_it_saw(graspel, data, output):
    outcome = graspel("cluster", data, "-o", output)
    assert outcome.code == 0
    assert "auto: 2 clusters: they explain most" in words_of(outcome.out)
    assert "ACC" not in outcome.out


def test_layers_are_columns(graspel, data, output):
    assert graspel("cluster", data, "-o", output, "--layers").code == 0
    header, first, *_ = output.read_text().splitlines()
    assert re.fullmatch(r"(.*,)?cluster(,layer_\d+)+", header)
    assert header.count(",") == first.count(",")
    given = graspel("cluster", data, "-o", output, "--layers", "-k", 2)
    assert given.code
    assert "leave -k and --graph out" in words_of(given.err)


def test_at_most_twenty_sizes_are_shown(graspel, data, output):
    said = words_of(graspel("cluster", data, "-k", 25, "-o", output).out)
    assert said.count(", ") >= 19
    assert "and 5 more" in said


def test_json_is_alone(graspel, data, classes, output):
    outcome = graspel("cluster", data, "-o", output, "--labels", classes, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    record = json.loads(outcome.out)
    assert record["clusters"] == record["classes"] == 2
    assert record["sizes"] == [30, 30]
    assert record["accuracy"] == record["nmi"] == record["ari"] == 1.0
    assert record["eigengap"]["clear"] is True


def test_quiet_prints_nothing(graspel, data, classes, output):
    outcome = graspel("cluster", data, "-o", output, "--labels", classes, "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


# --- labels -----------------------------------------------------------------------------------------------------------


def accuracy(graspel, data, labels, output):
    outcome = graspel("cluster", data, "-k", 2, "-o", output, "--labels", labels, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["accuracy"]


@pytest.mark.parametrize(
    "text",
    [
        "class\n" + "1\n" * 30 + "2\n" * 30,
        "1\n" * 30 + "2\n" * 30,
        "cat\n" * 30 + "dog\n" * 30,
        "\ufeff" + "kind\r\n" + "cat\r\n" * 30 + "dog\r\n" * 30,
        '"cat, tame"\n' * 30 + "dog\n" * 30 + "\n",
    ],
    ids=["name and numbers", "numbers", "text", "from a spreadsheet", "quoted"],
)
def test_labels_in_a_csv_file(graspel, data, tmp_path, output, text):
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert accuracy(graspel, data, path, output) == 1.0


@pytest.mark.parametrize(
    "labels", [TRUTH, TRUTH[:, None], TRUTH.astype(float), TRUTH == 0, np.where(TRUTH, "dog", "cat")]
)
def test_labels_in_an_npy_file(graspel, data, tmp_path, output, labels):
    np.save(tmp_path / "labels.npy", labels)
    assert accuracy(graspel, data, tmp_path / "labels.npy", output) == 1.0


def test_what_was_written_can_be_read(graspel, data, tmp_path, output):
    assert graspel("cluster", data, "-k", 2, "-o", output, "-q").code == 0
    assert accuracy(graspel, data, output, tmp_path / "again.npy") == 1.0


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_work(monkeypatch):
    """Fail if learning or clustering starts."""
    from graspel.cluster import clustering
    from graspel.estimators.learner import GRASPEL

    def fail(*_arguments, **_options):
        raise AssertionError("the work has started")

    monkeypatch.setattr(GRASPEL, "fit", fail)
    monkeypatch.setattr(clustering, "smallest_eigenpairs", fail)


@pytest.mark.usefixtures("no_work")
class TestRefusedBeforeTheWork:
    @pytest.mark.parametrize(
        ("k", "words"),
        [
            (0, ["n_clusters=0"]),
            (-3, ["n_clusters=-3"]),
            (61, ["n_clusters=61", "from 1 to", "60"]),
            ("abc", ["'abc'", "whole number", "auto"]),
            (2.5, ["2.5", "whole number"]),
        ],
    )
    def test_the_number_of_clusters(self, graspel, data, output, k, words):
        assert graspel("cluster", data, "-k", k, "-o", output).is_one_sentence(*words)

    def test_more_clusters_than_nodes(self, graspel, graph_file, output):
        outcome = graspel("cluster", "--graph", graph_file, "-k", 6, "-o", output)
        assert outcome.is_one_sentence("n_clusters=6", "5")

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("no/c.csv", ["does not exist", "mkdir"]),
            ("c.txt", [".txt", ".csv, .npy"]),
            ("c", ["suffix", ".csv, .npy"]),
            ("folder.csv", ["is a folder"]),
            ("points.npy", ["file to be read"]),
            ("classes.csv", ["file to be read"]),
        ],
    )
    def test_the_output(self, graspel, data, classes, tmp_path, name, words):
        (tmp_path / "folder.csv").mkdir()
        outcome = graspel("cluster", data, "-k", 2, "-o", tmp_path / name, "--labels", classes)
        assert outcome.is_one_sentence(*words)

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("no/g.npz", ["does not exist"]),
            ("g.npy", [".npy", ".graphml"]),
            ("clusters.csv", ["both the labels and the graph"]),
        ],
    )
    def test_the_graph_to_keep(self, graspel, data, tmp_path, output, name, words):
        assert graspel("cluster", data, "-o", output, "--save-graph", tmp_path / name).is_one_sentence(*words)

    def test_labels_of_another_length(self, graspel, data, tmp_path, output):
        for path in (tmp_path / "few.npy", tmp_path / "few.csv"):
            np.save(path, TRUTH[:59]) if path.suffix == ".npy" else path.write_text("class\n" + "1\n" * 59)
            outcome = graspel("cluster", data, "-o", output, "--labels", path)
            assert outcome.is_one_sentence(path.name, "59 labels", "points.npy", "60 points")

    def test_one_label_too_many_is_not_taken_for_a_name(self, graspel, data, tmp_path, output):
        (tmp_path / "many.csv").write_text("cat\n" * 61)
        assert graspel("cluster", data, "-o", output, "--labels", tmp_path / "many.csv").is_one_sentence("61", "60")

    def test_the_name_of_a_column_is_no_label(self, graspel, data, tmp_path, output):
        path = tmp_path / "named.csv"
        path.write_text("kind\n" + "cat\n" * 50 + "dog\n" * 20)
        outcome = graspel("cluster", data, "-o", output, "--labels", path)
        assert outcome.is_one_sentence("70 labels under the name 'kind'", "60 points")
        path.write_text("kind\n" + "\n".join(map(str, range(70))))
        assert graspel("cluster", data, "-o", output, "--labels", path).is_one_sentence(
            "holds 70 labels, but", "60 points"
        )

    def test_labels_that_are_missing_or_of_another_type(self, graspel, data, tmp_path, output):
        def run(name):
            return graspel("cluster", data, "-o", output, "--labels", tmp_path / name)

        assert run("no.csv").is_one_sentence("no.csv", "does not exist")
        (tmp_path / "labels.txt").write_text("1\n")
        assert run("labels.txt").is_one_sentence("labels.txt", ".csv, .npy")
        (tmp_path / "folder.npy").mkdir()
        assert run("folder.npy").is_one_sentence("is a folder")
        (tmp_path / "wide.csv").write_text("1,2\n" * 60)
        assert run("wide.csv").is_one_sentence("wide.csv", "2 columns")
        (tmp_path / "latin.csv").write_bytes("für\n".encode("latin-1") * 60)
        assert run("latin.csv").is_one_sentence("latin.csv", "UTF-8")
        (tmp_path / "empty.csv").write_text("")
        assert run("empty.csv").is_one_sentence("empty.csv", "0 labels")
        np.save(tmp_path / "matrix.npy", np.eye(60))
        assert run("matrix.npy").is_one_sentence("matrix.npy", "(60, 60)")
        np.save(tmp_path / "nan.npy", np.where(np.arange(60) == 7, np.nan, TRUTH))
        assert run("nan.npy").is_one_sentence("nan.npy", "row 7", "NaN")
        np.save(tmp_path / "objects.npy", np.array([None] * 60), allow_pickle=True)
        assert run("objects.npy").is_one_sentence("objects.npy", "Python objects")
        for content in (b"", b"no array at all"):
            (tmp_path / "damaged.npy").write_bytes(content)
            assert run("damaged.npy").is_one_sentence("damaged.npy")

    def test_nothing_to_cluster(self, graspel, output):
        assert graspel("cluster", "-k", 2, "-o", output).is_one_sentence("nothing to cluster", "--graph")

    def test_files_that_are_missing(self, graspel, tmp_path, output):
        assert graspel("cluster", tmp_path / "no.npy", "-o", output).is_one_sentence("no.npy", "does not exist")
        outcome = graspel("cluster", "--graph", tmp_path / "no.npz", "-o", output)
        assert outcome.is_one_sentence("no.npz", "does not exist")

    def test_a_graph_of_other_points(self, graspel, data, graph_file, output):
        outcome = graspel("cluster", data, "--graph", graph_file, "-o", output)
        assert outcome.is_one_sentence("graph.npz", "5 nodes", "points.npy", "60 points")

    def test_a_graph_where_points_are_expected(self, graspel, graph_file, output):
        outcome = graspel("cluster", graph_file, "-o", output)
        assert outcome.is_one_sentence("holds a graph, not points", f"--graph {graph_file}")

    @pytest.mark.parametrize(
        ("option", "name"),
        [
            (["--set", "n_neighbors=3"], "n_neighbors"),
            (["--metric", "cosine"], "metric"),
            (["--save-graph", "g.npz"], "--save-graph"),
        ],
    )
    def test_a_graph_that_is_there_is_not_learned(
        self, graspel, graph_file, tmp_path, output, option, name, monkeypatch
    ):
        monkeypatch.chdir(tmp_path)
        outcome = graspel("cluster", "--graph", graph_file, "-o", output, *option)
        assert outcome.is_one_sentence(name, "--graph", "leave one of the two out")

    @pytest.mark.parametrize("option", [["--key", "X"], ["--header", "yes"]])
    def test_options_for_reading_points_need_points(self, graspel, graph_file, output, option):
        outcome = graspel("cluster", "--graph", graph_file, "-o", output, *option)
        assert outcome.is_one_sentence(option[0], "leave it out")

    def test_an_unknown_head_or_start(self, graspel, data, output):
        outcome = graspel("cluster", data, "-o", output, "--set", "assign_labels=tail")
        assert outcome.is_one_sentence("tail", "ward", "paper")
        assert graspel("cluster", data, "-o", output, "--set", "initial=knm").is_one_sentence("knm", "knn", "mst")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("n_neighbors", ("--set", "n_neighbors=60")),
        ("metric", ("--metric", "taxi")),
        ("max_iter", ("--set", "learner__max_iter=-1")),
        ("random_state", ("--seed", -1)),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_sentence(graspel, data, output, name, options):
    assert graspel("cluster", data, "-o", output, *options).is_one_sentence(name)
    assert not output.exists()
