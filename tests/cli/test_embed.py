"""``graspel embed``: files, picture, summary, and what it says when the input is bad."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graspel import GRASPEL, GraspelEmbedding, GraspelTSNE

TRUTH = np.repeat([0, 1], 30)
SHORT = ("--set", "max_iter=10")


def written(path):
    """The names and coordinates in a file."""
    if path.suffix == ".npy":
        return None, np.load(path)
    names, *rows = path.read_text().splitlines()
    return names, np.array([[float(cell) for cell in row.split(",")] for row in rows])


def words_of(text):
    return " ".join(text.split())


@pytest.fixture
def output(tmp_path):
    return tmp_path / "coordinates.csv"


@pytest.fixture
def classes(tmp_path):
    """The blob of each point, as a file."""
    path = tmp_path / "classes.csv"
    path.write_text("blob\n" + "".join(f"{'left' if label else 'right'}\n" for label in TRUTH))
    return path


# --- coordinates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["coordinates.csv", "coordinates.npy", "PLACES.CSV"])
def test_the_coordinates_are_those_of_the_estimator(graspel, data, points, tmp_path, name):
    assert graspel("embed", data, "-o", tmp_path / name, "--seed", 3, "-q", *SHORT).code == 0
    names, coordinates = written(tmp_path / name)
    model = GraspelTSNE(random_state=3, max_iter=10)
    assert (coordinates == model.fit_transform(points)).all()
    assert names in (None, "x,y")


@pytest.mark.parametrize(("d", "names"), [(1, "x"), (3, "x,y,z"), (5, "c1,c2,c3,c4,c5")])
def test_spectral_coordinates(graspel, data, points, output, d, names):
    assert graspel("embed", data, "-o", output, "--method", "spectral", "-d", d, "--seed", 3, "-q").code == 0
    found, coordinates = written(output)
    assert found == names
    assert (coordinates == GraspelEmbedding(d, random_state=3).fit_transform(points)).all()


@pytest.mark.parametrize("method", ["tsne", "spectral"])
def test_options_reach_the_learner(graspel, data, output, monkeypatch, method):
    seen, learn = [], GRASPEL._learn

    def spy(learner, *given, **options):
        seen.append(learner.get_params())
        return learn(learner, *given, **options)

    monkeypatch.setattr(GRASPEL, "_learn", spy)
    options = ("--set", "learner__n_neighbors=3", "--metric", "cosine", "--set", "learner__max_iter=1", "--seed", 7)
    options += ("--jobs", 1)
    assert graspel("embed", data, "-o", output, "-q", "--method", method, *options).code == 0
    given = {"n_neighbors": 3, "metric": "cosine", "max_iter": 1, "random_state": 7, "n_jobs": 1}
    assert given.items() <= seen[0].items()
    assert graspel("embed", data, "-o", output, "-q", "--method", method, "--set", "learner__n_neighbors=3").code == 0
    model = GraspelTSNE() if method == "tsne" else GraspelEmbedding()
    assert seen[1]["max_iter"] == model._default_learner().max_iter


@pytest.mark.long
def test_the_same_seed_gives_the_same_file_in_a_new_process(graspel, graspel_process, data, tmp_path):
    for run, name in ((graspel, "a.csv"), (graspel_process, "b.csv")):
        assert run("embed", data, "-o", tmp_path / name, "--seed", 0, *SHORT).code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_what_was_written_can_be_read(graspel, data, tmp_path, output):
    assert graspel("embed", data, "-o", output, "-q", *SHORT).code == 0
    assert graspel("embed", output, "-o", tmp_path / "again.csv", "-q", *SHORT).code == 0


# --- picture and summary ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_picture_is_drawn(graspel, data, classes, tmp_path, output, suffix):
    picture = tmp_path / f"picture{suffix}"
    options = ("--plot", picture, "--labels", classes, "-q", "--method", "spectral")
    assert graspel("embed", data, "-o", output, *options).code == 0
    assert picture.stat().st_size > 1000


def test_a_picture_without_classes_and_of_one_dimension(graspel, data, tmp_path, output):
    options = ("--plot", tmp_path / "p.png", "-q", "--method", "spectral", "-d", 1)
    assert graspel("embed", data, "-o", output, *options).code == 0
    assert (tmp_path / "p.png").exists()


def test_the_summary_is_readable(graspel, data, classes, tmp_path, output):
    options = ("--labels", classes, "--plot", tmp_path / "p.png", "--seed", 0)
    outcome = graspel("embed", data, "-o", output, *options)
    assert outcome.code == 0
    said = words_of(outcome.out)
    for words in (
        "60",
        "in 2 dimensions, by tsne",
        "2 classes",
        "coordinates.csv",
        "p.png",
        "seconds",
    ):
        assert words in said, words
    assert "k-NN accuracy 1.0000" in said
    assert "\x1b" not in outcome.out + outcome.err, "no drawing outside a terminal"
    assert "t-SNE of all points" in outcome.err


def test_json_is_alone(graspel, data, classes, output):
    outcome = graspel("embed", data, "-o", output, "--labels", classes, "--json", *SHORT)
    assert (outcome.code, outcome.err) == (0, "")
    record = json.loads(outcome.out)
    assert (record["points"], record["components"], record["classes"]) == (60, 2, 2)
    outcome = graspel("embed", data, "-o", output, "--json", "--method", "spectral", "-d", 3)
    assert len(json.loads(outcome.out)["eigenvalues"]) == 3


def test_quiet_prints_nothing(graspel, data, output):
    outcome = graspel("embed", data, "-o", output, "--quiet", *SHORT)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_work(monkeypatch):
    """Fail if learning starts."""

    def fail(*_arguments, **_options):
        raise AssertionError("the work has started")

    monkeypatch.setattr(GRASPEL, "_learn", fail)


@pytest.mark.usefixtures("no_work")
class TestRefusedBeforeTheWork:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--method", "umap"), ["method='umap'", "'tsne', 'spectral'"]),
            (("--set", "reduction=0.5"), ["reduction=0.5", ">= 1"]),
            (("--set", "reduction=31"), ["reduction=31", "60 points", "at least 62"]),
            (("-d", 1), ["-d 1", "2 or 3", "--method spectral"]),
            (("-d", 4), ["-d 4", "2 or 3", "--method spectral"]),
            (("--method", "spectral", "-d", 60), ["n_components=60", "from 1 to 59"]),
            (("--method", "spectral", "--set", "reduction=3"), ["reduction=3", "GraspelEmbedding has no parameter"]),
            (("--set", "n_iter=-1"), ["n_iter=-1"]),
            (("--seed", -1), ["random_state=-1"]),
        ],
    )
    def test_options(self, graspel, data, output, options, words):
        assert graspel("embed", data, "-o", output, *options).is_one_sentence(*words)
        assert not output.exists()

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
        assert graspel("embed", data, "-o", tmp_path / name, "--labels", classes).is_one_sentence(*words)

    @pytest.mark.parametrize(
        ("name", "words"), [("p.gif", [".gif", ".png, .svg, .pdf"]), ("no/p.png", ["does not exist"])]
    )
    def test_the_picture(self, graspel, data, tmp_path, output, name, words):
        assert graspel("embed", data, "-o", output, "--plot", tmp_path / name).is_one_sentence(*words)

    def test_labels_of_another_length(self, graspel, data, tmp_path, output):
        np.save(tmp_path / "few.npy", TRUTH[:59])
        outcome = graspel("embed", data, "-o", output, "--labels", tmp_path / "few.npy")
        assert outcome.is_one_sentence("few.npy", "59 labels", "60 points")

    def test_files_that_are_missing(self, graspel, data, tmp_path, output):
        assert graspel("embed", tmp_path / "no.npy", "-o", output).is_one_sentence("no.npy", "does not exist")
        outcome = graspel("embed", data, "-o", output, "--labels", tmp_path / "no.csv")
        assert outcome.is_one_sentence("no.csv", "does not exist")

    def test_points_that_are_not_finite(self, graspel, tmp_path, output):
        np.save(tmp_path / "nan.npy", np.full((20, 2), np.nan))
        assert graspel("embed", tmp_path / "nan.npy", "-o", output).is_one_sentence("NaN", "row 0")
