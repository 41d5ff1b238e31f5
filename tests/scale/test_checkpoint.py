"""Checkpoints: a killed run goes on and ends in the same bits; a checkpoint of another run is refused."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from graspel import GRASPEL
from graspel.data.fingerprint import fingerprint
from graspel.data.prepare import prepare_rows
from graspel.graph import Graph
from graspel.learning import optimal_run, run
from graspel.neighbors.approximate import SMALL
from graspel.neighbors.landmarks import Landmarks
from graspel.neighbors.search import Neighbors
from graspel.optimum import columns
from graspel.runtime.parameters import get_state
from graspel.scale.checkpoint import Checkpoint

KILLED = """
import os, signal, sys
import numpy as np
from graspel import GRASPEL
from graspel.learning import start
from graspel.scale import checkpoint

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

def die_while_writing(path, **arrays):
    open(path, "wb").write(b"half a file")
    die()

when, X, folder = sys.argv[1], np.load(sys.argv[2]), sys.argv[3]
callback = None
if when == "joining":
    start.connect_components = die
elif when == "writing":
    checkpoint.np.savez = die_while_writing
else:
    callback = lambda record, graph: die() if record.round == 3 else None
GRASPEL(random_state=SEED, weights=WEIGHTS).fit(X, checkpoint=folder, callback=callback)
"""


PARAMETERS = [{}, {"initial": "mst"}, {"initial": "unn", "n_neighbors": 5}, {"max_iter": 2}, {"weights": "optimal"}]


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(400, 3))


KILLS = [(0, "calibrated", "joining"), (None, "calibrated", "round"), (0, "optimal", "writing")]  # each value once
OTHER_KILLS = [
    (seed, weights, when)
    for seed, weights in ((0, "calibrated"), (None, "calibrated"), (0, "optimal"))
    for when in ("joining", "writing", "round")
    if (seed, weights, when) not in KILLS
]


@pytest.mark.parametrize(
    ("random_state", "weights", "when"),
    [*KILLS, *(pytest.param(*kill, marks=pytest.mark.long) for kill in OTHER_KILLS)],
)
def test_a_killed_process_goes_on_to_the_same_bits(tmp_path, random_state, weights, when):
    X = np.random.default_rng(0).normal(size=(400, 3))
    np.save(tmp_path / "x.npy", X)
    folder = tmp_path / "run"
    script = KILLED.replace("SEED", str(random_state)).replace("WEIGHTS", repr(weights))
    command = [sys.executable, "-c", script, when, tmp_path / "x.npy", folder]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
    assert (folder / "rounds.npz").exists() == (when == "round")
    assert (folder / "lists.npz").exists() == (when != "writing")
    model = GRASPEL(random_state=random_state, weights=weights).fit(X, checkpoint=folder)
    assert model.n_iter_ > 3
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint.json", "lists.npz", "rounds.npz"]
    # The numbers that a run without a seed began with are in its checkpoint.
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads((folder / "checkpoint.json").read_text())["random"]
    whole = GRASPEL(random_state=rng, weights=weights).fit(X)
    assert model.graph_ == whole.graph_
    assert model.certificate_ == whole.certificate_
    assert [record.max_eta for record in model.history_] == [record.max_eta for record in whole.history_]


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.long_seeds
def test_a_finished_run_is_only_certified_again(X, tmp_path, monkeypatch, parameters):
    X = np.vstack([X, X[:7]])  # some copies
    first = GRASPEL(random_state=1, **parameters)
    found = first._learn(first._make_index(X, first), first._check_parameters(), checkpoint=str(tmp_path))
    lists = found.index.lists(1)
    monkeypatch.setattr("graspel.scale.checkpoint.nearest_neighbors", None)  # may not be called any more
    for keep_lists in (True, False):
        again = GRASPEL(random_state=1, n_jobs=1, **parameters)
        index, settings = again._make_index(X, again), again._check_parameters()
        kept = again._learn(index, settings, release=not keep_lists, checkpoint=tmp_path)
        assert again.graph_ == first.graph_
        assert again.certificate_ == first.certificate_
        assert kept.settled == found.settled
        assert np.array_equal(kept.index.neighbors.copies, lists.copies)
        if keep_lists or "weights" in parameters:  # that search needs them
            assert np.array_equal(kept.index.lists(1).indices, lists.indices)
            assert np.array_equal(kept.index.lists(1).z, lists.z)


@pytest.mark.parametrize("round", [1, 2, 3])
def test_a_run_of_coarse_rounds_goes_on_after_any_round(X, tmp_path, monkeypatch, round):
    monkeypatch.setattr(run, "COARSE_FROM", 100)
    whole = GRASPEL(random_state=0).fit(X)
    assert whole.n_iter_ > 3

    def interrupt(record, graph):
        if record.round == round:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GRASPEL(random_state=0).fit(X, checkpoint=tmp_path, callback=interrupt)
    assert GRASPEL(random_state=0).fit(X, checkpoint=tmp_path).graph_ == whole.graph_


@pytest.mark.parametrize("is_large", [False, True])
def test_the_search_for_the_optimum_goes_on_after_any_round(tmp_path, monkeypatch, is_large):
    if is_large:  # as where near pairs are searched first, by random flows
        monkeypatch.setattr(columns, "ALL_PAIRS_NODES", 10)
        for module in (columns, optimal_run):
            monkeypatch.setattr(module, "STRICT_NODES", 10)
    X = np.random.default_rng(0).normal(size=(120, 3))
    whole = GRASPEL(weights="optimal", random_state=0).fit(X)

    def interrupt(record, graph):
        if record.round == crashes[-1]:
            raise KeyboardInterrupt

    crashes = []
    for round in range(1, whole.n_iter_ + 1):
        crashes.append(round)
        with pytest.raises(KeyboardInterrupt):
            GRASPEL(weights="optimal", random_state=0).fit(X, checkpoint=tmp_path, callback=interrupt)
    model = GRASPEL(weights="optimal", random_state=0).fit(X, checkpoint=tmp_path)
    assert model.graph_ == whole.graph_
    assert model.certificate_ == whole.certificate_
    assert [record.objective for record in model.history_] == [record.objective for record in whole.history_]


def test_a_graph_of_the_user_is_part_of_the_parameters(X, tmp_path):
    path = Graph(400, np.arange(399), np.arange(1, 400), np.ones(399))
    expected = GRASPEL(initial=path, tol=1e9, random_state=0).fit(X).graph_
    for _ in range(2):
        assert GRASPEL(initial=path, tol=1e9, random_state=0).fit(X, checkpoint=tmp_path).graph_ == expected
    with pytest.raises(ValueError, match=r"other parameters .initial was"):
        GRASPEL(random_state=0).fit(X, checkpoint=tmp_path)


def test_another_run_is_refused_in_one_sentence(X, tmp_path):
    GRASPEL(random_state=0).fit(X, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match=r"run was made from other data; name another folder"):
        GRASPEL(random_state=0).fit(X + 1, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match=r"n_neighbors was 2, now 3"):
        GRASPEL(3, random_state=0).fit(X, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match=r"random_state was 0, now 1"):
        GRASPEL(random_state=1).fit(X, checkpoint=tmp_path / "run")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(ValueError, match="holds other files but no checkpoint"):
        GRASPEL().fit(X, checkpoint=tmp_path / "other")
    with pytest.raises(ValueError, match="checkpoint=7: must be None or the path"):
        GRASPEL().fit(X, checkpoint=7)
    for name, content in (("rounds.npz", b"PK"), ("checkpoint.json", b"{}")):
        (tmp_path / "run" / name).write_bytes(content)
        with pytest.raises(ValueError, match=f"{name} is damaged"):
            GRASPEL(random_state=0).fit(X, checkpoint=tmp_path / "run")


def test_every_value_and_every_place_changes_the_fingerprint(X):
    changed = X.copy()
    changed[-1, -1] = np.nextafter(changed[-1, -1], np.inf)
    swapped = X.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    others = [changed, swapped, X[:-1], X.astype(np.float32), X.reshape(-1, 1)]
    assert len({fingerprint(values) for values in [X, *others]}) == 6
    assert fingerprint(np.asfortranarray(X)) == fingerprint(X)


def test_landmarks_of_the_search_are_kept(tmp_path, X):
    rng = np.random.default_rng(0)
    points = prepare_rows(X)
    upper = Landmarks.build(points.sketch, SMALL, rng, 1)[0]
    lower = Landmarks(upper.rows, upper.start, upper.members, upper, SMALL)
    everyone, nobody = np.arange(400), np.empty(0, dtype=np.int64)
    lists = Neighbors(points, everyone[:, None], np.ones((400, 1)), 0.5, everyone, nobody, nobody, lower)
    checkpoint = Checkpoint(tmp_path, "data", {}, rng)
    checkpoint._write(tmp_path / "lists.npz", checkpoint._pack_lists(lists), {"recall": 0.5, "random": get_state(rng)})
    found = checkpoint.search(points, 1, rng).landmarks
    for level in (lower, upper):
        assert np.array_equal(found.rows, level.rows)
        assert np.array_equal(found.members, level.members)
        assert found.density == SMALL
        found = found.above
    assert found is None


def test_one_function_is_not_taken_for_another(X, tmp_path):
    """Two lambdas have one name, and a partial has none: their distances tell them apart."""
    few = X[:60]
    near, far = (lambda p, q: np.abs(p - q).sum()), (lambda p, q: np.abs(p - q).max())
    GRASPEL(metric=near, random_state=0).fit(few, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="other parameters"):
        GRASPEL(metric=far, random_state=0).fit(few, checkpoint=tmp_path / "run")
    power = partial(np.linalg.norm, ord=1)
    by_norm = GRASPEL(metric=lambda p, q: power(p - q), random_state=0)
    assert (
        by_norm.fit(few, checkpoint=tmp_path / "norm").graph_ == by_norm.fit(few, checkpoint=tmp_path / "norm").graph_
    )


@pytest.mark.long_seeds
def test_a_checkpoint_damaged_anywhere_is_one_sentence_or_the_same_graph(X, tmp_path, rng):
    """A single byte that is another one, and files that end early: no traceback from inside, and no other graph."""
    whole = GRASPEL(random_state=0).fit(X, checkpoint=tmp_path / "run").graph_
    for name in ("checkpoint.json", "lists.npz", "rounds.npz"):
        good = (tmp_path / "run" / name).read_bytes()
        damaged = [good[:length] for length in (0, 1, len(good) // 2, len(good) - 1)]
        for place in rng.integers(len(good), size=12):
            changed = bytearray(good)
            changed[place] ^= 1 + int(rng.integers(255))
            damaged.append(bytes(changed))
        for content in damaged:
            (tmp_path / "run" / name).write_bytes(content)
            said, graph = "", whole
            try:
                graph = GRASPEL(random_state=0).fit(X, checkpoint=tmp_path / "run").graph_
            except ValueError as error:
                said = str(error)
            assert graph == whole
            assert said == "" or re.search("is damaged|was made", said)
        (tmp_path / "run" / name).write_bytes(good)


def test_what_a_killed_run_leaves_does_not_block_the_next(X, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".part-checkpoint-1-2-3.json").write_text("half")
    assert GRASPEL(random_state=0).fit(X, checkpoint=tmp_path / "run").graph_.is_connected
