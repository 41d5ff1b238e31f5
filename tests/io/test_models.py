"""Models in files without pickle: the same results after reading, and nothing that is not graspel's is made."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from fuzzing.limits import low_limits
from graspel import (
    GRASPEL,
    GraspelClassifier,
    GraspelClustering,
    GraspelEmbedding,
    GraspelImputer,
    GraspelNeighbors,
    NeighborIndex,
)
from graspel.io.checks import UnusableFile
from graspel.io.models import load_model
from graspel.io.npy_arrays import pack_texts


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300], X[300:330]


def test_a_learner(digits, tmp_path):
    X, _, new = digits
    frame = pd.DataFrame(X, index=[f"d{i}" for i in range(300)]).add_prefix("pixel")
    model = GRASPEL(random_state=0).fit(frame)
    model.save(tmp_path / "model.npz")
    again = GRASPEL.load(tmp_path / "model.npz")
    assert again.graph_ == model.graph_
    assert again.get_params() == model.get_params()
    assert again.certificate_.objective == model.certificate_.objective
    assert again.history_[-1].seconds == model.history_[-1].seconds
    named = pd.DataFrame(new).add_prefix("pixel")
    assert abs(again.transform(named) - model.transform(named)).max() == 0
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    more = named.set_axis([f"new{i}" for i in range(30)])
    assert again.partial_fit(more).graph_ == model.partial_fit(more).graph_
    again.save(tmp_path / "grown.npz")
    assert GRASPEL.load(tmp_path / "grown.npz").forget(["new3"]).graph_.is_connected


@pytest.mark.parametrize("kind", [GraspelClustering, GraspelEmbedding, GraspelNeighbors, GraspelClassifier])
def test_every_estimator(digits, tmp_path, kind):
    X, y, new = digits
    model = kind(random_state=0, learner=GRASPEL(3, max_iter=0)).fit(X, np.where(np.arange(300) < 50, y, -1))
    model.save(tmp_path / "model.npz")
    again = kind.load(tmp_path / "model.npz")
    call = "predict" if hasattr(model, "predict") else "transform"
    ours, theirs = getattr(model, call)(new), getattr(again, call)(new)
    assert abs(ours - theirs).max() == 0
    with pytest.raises(ValueError, match=f"holds a {kind.__name__}, not a GRASPEL"):
        GRASPEL.load(tmp_path / "model.npz")


def test_an_imputer(digits, tmp_path):
    X, _, new = digits
    gaps, more = X.copy(), new.copy()
    gaps[::7, 20], more[::3, 20] = np.nan, np.nan
    model = GraspelImputer(random_state=0).fit(gaps)
    model.save(tmp_path / "model.npz")
    again = GraspelImputer.load(tmp_path / "model.npz")
    assert np.array_equal(again.transform(more), model.transform(more))
    assert np.array_equal(again.deviation_, model.deviation_)


def test_sparse_points_precomputed_distances_and_unfitted_models(digits, tmp_path):
    X, _, new = digits
    path = tmp_path / "model.npz"
    model = GRASPEL(metric="cosine", random_state=0).fit(sp.csr_array(X))
    model.save(path)
    assert abs(GRASPEL.load(path).transform(new) - model.transform(new)).max() == 0
    D = np.abs(X[:50, None] - X[None, :50]).sum(axis=2)
    model = GRASPEL(metric="precomputed", random_state=0).fit(D)
    model.save(path)
    assert abs(GRASPEL.load(path).transform(D[:3]) - model.transform(D[:3])).max() == 0
    GRASPEL(5, tol=3.0).save(path)
    assert GRASPEL.load(path).get_params() == GRASPEL(5, tol=3.0).get_params()


def test_what_cannot_be_saved(digits, tmp_path):
    X, _, _ = digits
    path = tmp_path / "model.npz"
    model = GRASPEL(metric=lambda x, y: abs(x - y).sum(), random_state=0).fit(X[:40])
    with pytest.raises(ValueError, match=r"GRASPEL.metric is a function, which cannot be saved without pickle"):
        model.save(path)
    assert not path.exists()
    with pytest.raises(ValueError, match=r"\.npz files only"):
        model.save(tmp_path / "model.pkl")


KINDS = {
    "dense": lambda X, y: GRASPEL(random_state=0).fit(X),
    "sparse": lambda X, y: GraspelClustering(8, random_state=0).fit(sp.csr_array(X)),
    "precomputed": lambda X, y: GRASPEL(metric="precomputed", random_state=0).fit(np.abs(X[:60, None] - X[:60]).sum(2)),
    "copies": lambda X, y: GraspelClassifier(random_state=0).fit(np.concatenate([X, X[:9]]), np.append(y, y[:9])),
    "landmarks": lambda X, y: with_landmarks(X),
}


def with_landmarks(X):
    with low_limits():
        return GRASPEL(random_state=0).fit(NeighborIndex(X[:, :9], random_state=0))


@pytest.mark.parametrize("kind", KINDS)
def test_indices_that_lead_outside_are_refused(digits, tmp_path, kind):
    """Compiled code follows them: a column index of 1e8 ended the process in `transform`."""
    path = tmp_path / "model.npz"
    model = KINDS[kind](*digits[:2])
    model.save(path)
    arrays = dict(np.load(path))
    names = [
        name for name, array in arrays.items() if name.startswith("array") and array.size and array.dtype.kind in "if"
    ]
    assert len(names) > 10
    refused = 0
    for name in names:
        whole = arrays[name]
        for damaged in (put(whole, 0, 10**8), put(whole, -1, -5), whole[:-1] if whole.ndim else whole):
            np.savez(path, **{**arrays, name: damaged})
            try:
                again = type(model).load(path)
            except UnusableFile:
                refused += 1
                continue
            assert whole.dtype.kind == "f" or is_of_no_use_as_index(again, damaged), (name, whole.dtype, whole.shape)
    assert refused > len(names)


def put(array, place, value):
    changed = array.astype(np.int64) if array.dtype.kind == "i" else array.copy()
    changed.flat[place] = value
    return changed


def is_of_no_use_as_index(model, array):
    """Whether an array of whole numbers is one that nothing follows: labels, classes, rounds."""
    results = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    learner = getattr(model, "learner_", model)
    results += [learner.graph_.round, learner._fit.graph.round]
    return any(np.array_equal(array, result) for result in results)


@pytest.mark.parametrize("damage", ["column", "pointer", "length"])
def test_a_damaged_sparse_matrix_is_refused(digits, tmp_path, damage):
    path = tmp_path / "model.npz"
    KINDS["sparse"](*digits[:2]).save(path)
    arrays = dict(np.load(path))
    structure = json.loads(arrays["graspel_model"].tobytes().decode())
    matrices = [value["csr"] for entry in structure["objects"] for value in entry["state"].values() if is_csr(value)]
    assert matrices
    for _, indices, indptr in matrices:
        name = (indices if damage == "column" else indptr)["array"]
        changed = arrays[name][:-1] if damage == "length" else put(arrays[name], 3, 10**8)
        np.savez(path, **{**arrays, name: changed})
        with pytest.raises(UnusableFile, match=r"model\.npz: cannot be read as a model"):
            GraspelClustering.load(path)


def is_csr(value):
    return isinstance(value, dict) and "csr" in value


def test_files_of_others_make_nothing_but_graspel(digits, tmp_path):
    path = tmp_path / "evil.npz"

    def write(name):
        held = [{"class": name, "state": {}}]
        structure = {"format": 1, "version": "1", "model": {"object": 0}, "objects": held}
        np.savez(path, **pack_texts("graspel_model", [json.dumps(structure)]))

    for name in ("subprocess:Popen", "graspel.io.models:os", "graspel.io.models:Path", "os:system", "graspel:nothing"):
        write(name)
        with pytest.raises(ValueError, match="is not a class of graspel"):
            load_model(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="cannot be read as a model"):
        load_model(path)
    GRASPEL(random_state=0).fit(digits[0]).graph_.save(path)
    with pytest.raises(ValueError, match="not a model"):
        load_model(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_model(tmp_path / "none.npz")
