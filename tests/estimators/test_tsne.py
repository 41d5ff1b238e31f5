"""GraspelTSNE: classes are kept apart, the same seed gives the same embedding, and errors are clear."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from graspel import GRASPEL, GraspelTSNE
from graspel.metrics import label_accuracy, neighbors_kept

SHORT = {"max_iter": 40}
SHORTEST = {"max_iter": 10}


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, 6, centers=5, random_state=0)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def fitted(digits):
    return GraspelTSNE(random_state=0).fit(digits[0])


# --- the embedding ----------------------------------------------------------------------------------------------------


def test_digits_keep_their_classes_and_neighbors(fitted, digits):
    X, y = digits
    assert label_accuracy(fitted.embedding_, y) > 0.97
    assert neighbors_kept(X, fitted.embedding_).trustworthiness > 0.985


@pytest.fixture(scope="module")
def reduced(digits):
    return GraspelTSNE(reduction=5, random_state=0).fit(digits[0])


def test_representatives_are_a_fifth_and_keep_their_classes(reduced, digits):
    fitted, (_, y) = reduced, digits
    assert len(fitted.representatives_) == round(len(y) / 5)
    assert len(np.unique(fitted.representatives_)) == len(fitted.representatives_)
    chosen = fitted.representatives_
    assert label_accuracy(fitted.embedding_[chosen], y[chosen]) > 0.95


def test_levels_lead_to_the_groups(reduced):
    fitted = reduced
    groups = np.arange(len(fitted.embedding_))
    for level in fitted.levels_:
        groups = level[groups]
    assert_array_equal(groups, fitted.groups_)
    assert_array_equal(fitted.groups_[fitted.representatives_], np.arange(fitted.coarse_graph_.n_nodes))


def test_refinement_lowers_the_divergence(blobs):
    settings = {"random_state": 0, "perplexity": 20}
    little = GraspelTSNE(max_iter=105, **settings).fit(blobs[0]).kl_divergence_
    assert GraspelTSNE(max_iter=150, **settings).fit(blobs[0]).kl_divergence_ < little


def test_the_iterations_end_by_the_rule(blobs):
    settings = {"random_state": 0, "max_iter": 480}
    loose, strict, endless = (GraspelTSNE(tol=tol, **settings).fit(blobs[0]) for tol in (0.5, 0.02, 0))
    assert loose.n_iter_ < strict.n_iter_ < endless.n_iter_ == 480
    assert loose.kl_divergence_ > strict.kl_divergence_ >= endless.kl_divergence_ - 1e-3


def test_three_dimensions(blobs):
    model = GraspelTSNE(n_components=3, random_state=0, **SHORT).fit(blobs[0])
    assert model.embedding_.shape == (300, 3)
    assert list(model.get_feature_names_out()) == ["graspeltsne0", "graspeltsne1", "graspeltsne2"]


@pytest.mark.parametrize("options", [{"metric": "cosine"}, {"initial": "mst"}, {"n_neighbors": 30}])
def test_a_learner_of_the_users_own_is_used_and_left_alone(blobs, options):
    learner = GRASPEL(max_iter=0, **options)
    model = GraspelTSNE(learner=learner, random_state=3, **SHORT).fit(blobs[0])
    assert model.learner_.random_state == 3
    assert not hasattr(learner, "graph_")
    assert model.graph_ == GRASPEL(max_iter=0, random_state=3, **options).fit(blobs[0]).graph_
    assert clone(model).get_params()["learner__max_iter"] == 0
    assert_allclose(model.transform(blobs[0]), model.embedding_)


def test_a_connected_graph_of_the_users_own_has_no_lists_yet(blobs):
    X, _ = blobs
    graph = GRASPEL(max_iter=0, random_state=0).fit(X).graph_
    model = GraspelTSNE(learner=GRASPEL(initial=graph, max_iter=0), random_state=0, **SHORT).fit(X)
    assert np.isfinite(model.embedding_).all()
    more = GraspelTSNE(perplexity=40, random_state=0, **SHORT).fit(X)  # more than the learner's lists hold
    assert np.isfinite(more.embedding_).all()


def test_sparse_points(blobs):
    """The graph is that of dense rows; coordinates differ, because t-SNE magnifies the last digits of distances."""
    X, y = blobs
    dense = GraspelTSNE(random_state=0, **SHORT).fit(X)
    sparse = GraspelTSNE(random_state=0, **SHORT).fit(sp.csr_array(X))
    assert np.array_equal(sparse.graph_.heads, dense.graph_.heads)
    assert np.array_equal(sparse.graph_.tails, dense.graph_.tails)
    assert label_accuracy(sparse.embedding_, y) >= label_accuracy(dense.embedding_, y) - 0.01


# --- the same seed ----------------------------------------------------------------------------------------------------

EMBED = """
import hashlib
from sklearn.datasets import load_digits
from graspel import GraspelTSNE
X = load_digits().data[:300]
model = GraspelTSNE(random_state=7, n_jobs=N_JOBS, max_iter=40).fit(X)
digest = hashlib.sha256(model.embedding_.tobytes() + model.transform(X[:50] + 0.1).tobytes()).hexdigest()
"""


def digest_in_this_process(n_jobs: int) -> str:
    names = {"N_JOBS": n_jobs}
    exec(EMBED, names)
    return names["digest"]


def digest_in_a_new_process(n_jobs: int, threads: int) -> str:
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(variables, str(threads)), "PYTHONHASHSEED": str(threads)}
    command = [sys.executable, "-W", "ignore", "-c", f"N_JOBS = {n_jobs}\n{EMBED}print(digest)"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.long
def test_the_same_seed_gives_the_same_embedding_in_a_new_process():
    assert digest_in_this_process(n_jobs=1) == digest_in_a_new_process(n_jobs=2, threads=3)


@pytest.mark.parametrize("n_components", [2, 3])
def test_threads_do_not_matter_where_they_are_used(monkeypatch, blobs, n_components):
    from graspel.tsne import engine

    monkeypatch.setattr(engine, "BLOCK", 64)  # several blocks, and several copies of the grid
    monkeypatch.setattr(engine, "CHARGES", 50)
    one, two = (
        GraspelTSNE(n_components=n_components, random_state=0, n_jobs=n_jobs, **SHORTEST).fit(blobs[0])
        for n_jobs in (1, 3)
    )
    assert_array_equal(one.embedding_, two.embedding_)


def test_another_seed_and_the_global_state(blobs):
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (GraspelTSNE(random_state=seed, **SHORT).fit_transform(blobs[0]) for seed in (0, 1))
    assert not np.array_equal(first, second)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


# --- new points -------------------------------------------------------------------------------------------------------


def test_points_of_the_training_set_keep_their_coordinates(fitted, digits):
    assert_array_equal(fitted.transform(digits[0][:300]), fitted.embedding_[:300])


def held_out_accuracy(X, y, seed):
    """Label accuracy of the points inside, and of a fifth that is held out and placed by `transform`."""
    old = np.random.default_rng(seed).random(len(X)) < 0.8
    model = GraspelTSNE(random_state=seed, max_iter=300).fit(X[old])
    vote = KNeighborsClassifier(10).fit(model.embedding_, y[old])
    return label_accuracy(model.embedding_, y[old]), vote.score(model.transform(X[~old]), y[~old]), model


def test_new_points_lie_among_their_class_as_often_as_old_ones(digits):
    X, y = digits
    found = [held_out_accuracy(X, y, seed) for seed in range(3)]
    inside, outside = np.mean([scores[:2] for scores in found], axis=0)
    assert outside > inside - 0.01
    model = found[0][2]
    coordinates = model.transform(X[:20] + 0.1)
    assert_allclose(model.transform(X[:1] + 0.1), coordinates[:1], rtol=1e-9)  # the last bits depend on the batch


@pytest.mark.parametrize(("name", "n"), [("usps", 9298), ("mnist", 5000)])
@pytest.mark.long
def test_new_points_of_larger_sets_too(name, n):
    from reproduction.datasets import load

    if not (Path(os.environ.get("GRASPEL_DATA", ".")) / f"{name}.npz").is_file():
        pytest.skip(f"GRASPEL_DATA names no folder with {name}.npz")
    data = load(name)
    chosen = np.random.default_rng(0).permutation(len(data.y))[:n]
    inside, outside, _ = held_out_accuracy(np.asarray(data.X)[chosen], np.asarray(data.y)[chosen], 0)
    assert outside > inside - 0.01


def test_transform_before_fit_and_with_another_width(fitted):
    with pytest.raises(NotFittedError):
        GraspelTSNE().transform(np.eye(3))
    with pytest.raises(ValueError, match="3 features, but GraspelTSNE is expecting 64"):
        fitted.transform(np.eye(3))


# --- odd input --------------------------------------------------------------------------------------------------------


def test_constant_data_have_one_position():
    model = GraspelTSNE(random_state=0).fit(np.ones((30, 3)))
    assert_array_equal(model.embedding_, 0)
    assert_array_equal(model.transform(np.ones((2, 3))), 0)


@pytest.mark.parametrize("n_distinct", [2, 3, 7, 40])
@pytest.mark.parametrize("reduction", [1, 2])
def test_copies_have_the_same_coordinates(n_distinct, reduction, rng):
    X = np.repeat(rng.standard_normal((n_distinct, 4)), 20, axis=0)
    model = GraspelTSNE(reduction=reduction, random_state=0, **SHORT).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert len(np.unique(model.embedding_, axis=0)) == n_distinct
    assert (model.embedding_.reshape(n_distinct, 20, 2) == model.embedding_[::20, None]).all()
    if reduction == 1:
        return
    groups = np.arange(len(X))
    for level in model.levels_:
        groups = level[groups]
    assert_array_equal(groups, model.groups_)


@pytest.mark.parametrize("X", [np.arange(20.0)[:, None], np.eye(12), 1e150 * np.eye(12), np.vstack([np.zeros(2)] * 11)])
def test_odd_data_are_finite(X):
    assert np.isfinite(GraspelTSNE(random_state=0, **SHORT).fit_transform(X)).all()


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reduction": 0.5}, r"reduction=0.5: must be a number >= 1\..*the paper uses 5"),
        ({"reduction": 0}, "reduction=0: must be a number >= 1"),
        ({"reduction": -3}, "reduction=-3"),
        ({"reduction": "five"}, "reduction='five'"),
        ({"reduction": float("nan")}, "reduction=nan"),
        ({"reduction": float("inf")}, "reduction=inf"),
        ({"reduction": 21}, r"reduction=21: .*two representatives of 40 points\. Pass at least 42 .* 20 or less"),
        ({"n_components": 1}, "n_components=1: must be a whole number 2 or 3.*GraspelEmbedding"),
        ({"n_components": 4}, "n_components=4: must be a whole number 2 or 3"),
        ({"n_components": 2.0}, "n_components=2.0"),
        ({"perplexity": 0}, "perplexity=0: must be a number >= 1"),
        ({"max_iter": -1}, "max_iter=-1"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
        ({"tol": -0.1}, "tol=-0.1: must be a number from 0 up to 1"),
        ({"tol": 1}, "tol=1: must be"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"verbose": "yes"}, "verbose='yes'"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"learner": "knn"}, r"learner='knn': must be a GRASPEL, or None for GRASPEL\(max_iter=0\)"),
    ],
)
def test_wrong_parameters(options, words, monkeypatch):
    """The error comes before any computation, and the estimator is not fitted in part."""
    monkeypatch.setattr(
        "graspel.estimators.learner.GRASPEL._learn", lambda *_, **__: pytest.fail("fitted before the check")
    )
    model = GraspelTSNE(**options)
    with pytest.raises(ValueError, match=words):
        model.fit(np.random.default_rng(0).random((40, 3)))
    assert not hasattr(model, "embedding_")


# --- callback and progress --------------------------------------------------------------------------------------------


def test_the_callback_is_called_and_can_end_the_iterations(blobs):
    calls = []
    GraspelTSNE(random_state=0, **SHORT).fit(blobs[0], callback=lambda *arguments: calls.append(arguments))
    with pytest.raises(ValueError, match=r"callback=3: must be None or a function of \(phase, iteration, coord"):
        GraspelTSNE().fit(blobs[0], callback=3)
    phases = {
        phase: [(iteration, len(coordinates)) for name, iteration, coordinates in calls if name == phase]
        for phase, _, _ in calls
    }
    assert phases == {"t-SNE of all points": [(10, 300), (20, 300), (30, 300), (40, 300)]}
    calls.clear()

    def stop(*arguments):
        calls.append(arguments)
        return True

    model = GraspelTSNE(random_state=0, **SHORT).fit(blobs[0], callback=stop)
    assert [iteration for _, iteration, _ in calls] == [10]
    assert np.isfinite(model.embedding_).all()


def test_progress_and_verbose(blobs, capsys):
    GraspelTSNE(random_state=0, verbose=True, **SHORT).fit(blobs[0])
    out = capsys.readouterr().out
    for words in ("nearest neighbors", "t-SNE of all points   0%", "t-SNE of all points 100%"):
        assert words in out
    GraspelTSNE(random_state=0, verbose=True, reduction=5, **SHORT).fit(blobs[0])
    out = capsys.readouterr().out
    assert "coarsening" in out
    assert "t-SNE of the representatives 100%" in out


@pytest.mark.parametrize("n", [24, 60, 120, 240])
@pytest.mark.long_seeds
def test_few_points_are_spread_over_the_plane(n, seed):
    """As many neighbors as for large data would pull few points onto a line."""
    X, y = make_blobs(n, 5, centers=8, cluster_std=0.6, random_state=0)
    E = GraspelTSNE(random_state=seed).fit_transform(X)
    spread = np.linalg.svd(E - E.mean(axis=0), compute_uv=False)
    assert spread[1] > 0.2 * spread[0]
    assert label_accuracy(E, y, n_neighbors=1) > 0.95


@pytest.mark.long_seeds
def test_points_without_clusters_do_not_collapse(rng):
    """With the usual exaggeration such points fall onto one place; the exaggerated iterations begin again with less."""
    X, widths = rng.standard_normal((1500, 40)), []
    model = GraspelTSNE(max_iter=150, random_state=0).fit(
        X, callback=lambda _, iteration, Y: widths.append((iteration, Y.std(axis=0).max())) and None
    )
    assert [iteration for iteration, _ in widths].count(10) == 4, "12, 6, 3 and 1.5 times the attraction"
    assert widths[3][1] < 1e-2, "the collapse"
    assert model.n_iter_ == 150
    assert widths[-6][0] == 100
    assert widths[-6][1] > 0.1
    E = model.embedding_
    assert np.abs(E).max() < 8 * E.std(), "no point is left far outside"
