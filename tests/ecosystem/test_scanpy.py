"""The door to scanpy: its tools run on the graph that graspel.integrations.scanpy writes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier

REASON = 'needs scanpy: pip install "graspel[scanpy]"'
anndata = pytest.importorskip("anndata", reason=REASON)
sc = pytest.importorskip("scanpy", reason=REASON)

from graspel import GRASPEL, Graph, GraspelNeighbors  # noqa: E402
from graspel.graph import relative_weights  # noqa: E402
from graspel.integrations.scanpy import neighbors  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
N = 500


@pytest.fixture(scope="module")
def cells():
    X, y = load_digits(return_X_y=True)
    obs = pd.DataFrame({"digit": pd.Categorical(y[:N])}, index=[f"cell{i}" for i in range(N)])
    adata = anndata.AnnData(X[:N].astype(np.float32), obs=obs)
    neighbors(adata)
    return adata


def test_it_writes_what_scanpy_writes(cells):
    theirs = anndata.AnnData(cells.X.copy())
    sc.pp.neighbors(theirs, use_rep="X")
    assert set(theirs.uns["neighbors"]) <= set(cells.uns["neighbors"])
    for key in ("connectivities", "distances"):
        A = cells.obsp[key]
        assert A.format == "csr"
        assert A.shape == (N, N)
    connectivities, distances = cells.obsp["connectivities"], cells.obsp["distances"]
    assert (connectivities != connectivities.T).nnz == 0
    assert connectivities.data.min() > 0
    assert connectivities.data.max() <= 1
    assert (np.diff(distances.indptr) == np.diff(theirs.obsp["distances"].indptr)).all()
    assert (distances.diagonal() == 0).all()
    assert cells.uns["neighbors"]["params"]["n_neighbors"] == theirs.uns["neighbors"]["params"]["n_neighbors"]


def test_distances_are_those_along_the_graph_in_the_unit_of_the_data(cells):
    distances = cells.obsp["distances"].tocoo()
    apart = np.linalg.norm(cells.X[distances.row] - cells.X[distances.col], axis=1)
    assert (distances.data >= apart * (1 - 1e-4)).all()
    joined = np.asarray(cells.obsp["connectivities"][distances.row, distances.col]).ravel() == 1  # mutually nearest
    assert joined.any()
    np.testing.assert_allclose(distances.data[joined], apart[joined], rtol=1e-4)


def test_copies_of_cells_are_listed_and_few_cells_are_enough(cells):
    adata = anndata.AnnData(np.repeat(cells.X[:2], 3, axis=0))
    neighbors(adata, 2)
    assert (np.diff(adata.obsp["distances"].indptr) == 5).all()
    assert adata.obsp["distances"].data.min() > 0
    assert adata.uns["neighbors"]["params"]["n_neighbors"] == 6


def test_leiden(cells):
    adata = cells.copy()
    sc.tl.leiden(adata, resolution=0.1, flavor="igraph", n_iterations=2, directed=False)
    assert adjusted_rand_score(adata.obs.digit, adata.obs.leiden) > 0.6


def test_umap_paga_and_diffmap(cells):
    adata = cells.copy()
    sc.tl.umap(adata, maxiter=30)
    assert np.isfinite(adata.obsm["X_umap"]).all()
    sc.tl.paga(adata, groups="digit")
    assert adata.uns["paga"]["connectivities"].shape == (10, 10)
    sc.tl.diffmap(adata, n_comps=5)
    assert np.isfinite(adata.obsm["X_diffmap"]).all()


@pytest.mark.parametrize("by_pca", [False, True], ids=["X", "X_pca"])
def test_ingest_places_new_cells(cells, by_pca):
    old, new = cells[::2].copy(), cells[1::2].copy()
    for adata in (old, new):
        adata.obsp, adata.uns = {}, {}
    truth = new.obs.pop("digit")
    if by_pca:
        sc.pp.pca(old, n_comps=20)
    sc.pp.neighbors(old, use_rep=None if by_pca else "X")
    sc.tl.umap(old, maxiter=20)
    how = {"obs": "digit", "embedding_method": "umap"}
    try:
        sc.tl.ingest(new.copy(), old, **how)
    except TypeError as error:  # of scanpy 1.11 with pynndescent from 0.6 on
        pytest.skip(f"scanpy's ingest does not run on scanpy's own neighbors here: {error}")
    neighbors(old)
    sc.tl.ingest(new, old, **how)
    by_data = KNeighborsClassifier(15).fit(old.X, old.obs.digit).score(new.X, truth)  # .78 of these few cells
    assert (np.asarray(new.obs.digit) == np.asarray(truth)).mean() > by_data - 0.1
    assert np.isfinite(new.obsm["X_umap"]).all()


def test_h5ad_round_trip(cells, tmp_path):
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert (again.obsp["connectivities"] != cells.obsp["connectivities"]).nnz == 0
    sc.tl.leiden(again, resolution=0.1, flavor="igraph", n_iterations=2, directed=False)


def test_representation_key_and_copy(cells):
    adata = anndata.AnnData(cells.X.copy())
    sc.pp.pca(adata, n_comps=10)
    made = neighbors(adata, use_rep="X_pca", key_added="ours", learner=GRASPEL(3), copy=True)
    assert "ours_connectivities" in made.obsp
    assert made.uns["ours"]["params"]["use_rep"] == "X_pca"
    assert not len(adata.obsp)
    sc.tl.leiden(made, neighbors_key="ours", flavor="igraph", n_iterations=2, directed=False)
    neighbors(adata)
    assert adata.uns["neighbors"]["params"]["n_pcs"] == 10  # as scanpy says it, for ingest to project new cells
    del adata.uns["pca"]
    neighbors(adata)
    assert adata.uns["neighbors"]["params"]["use_rep"] == "X_pca"


def test_errors(cells):
    with pytest.raises(ValueError, match=r"use_rep='X_vae': must be one of 'X'.*scanpy.pp.pca"):
        neighbors(cells, use_rep="X_vae")
    with pytest.raises(TypeError, match="must be an AnnData"):
        neighbors(np.eye(3))
    with pytest.raises(TypeError, match="must be a GRASPEL"):
        neighbors(cells, learner="knn")


def test_our_transformer_in_scanpy(cells):
    adata = anndata.AnnData(cells.X.copy())
    sc.pp.neighbors(adata, use_rep="X", n_neighbors=15, transformer=GraspelNeighbors(15, random_state=0))
    sc.tl.leiden(adata, flavor="igraph", n_iterations=2, directed=False)
    assert adjusted_rand_score(cells.obs.digit, adata.obs.leiden) > 0.6


def test_relative_weights_do_not_depend_on_the_unit():
    graph = Graph(4, [0, 1, 2], [1, 2, 3], [1e-200, 1e150, 3.0])
    relative = relative_weights(graph).weights
    assert (relative > 0).all()
    assert relative.max() == 1
    np.testing.assert_allclose(relative_weights(graph.scaled(1e5)).weights, relative, rtol=1e-12)
