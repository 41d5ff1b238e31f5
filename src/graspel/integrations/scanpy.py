"""scanpy: a learned graph of the cells of an AnnData object, instead of scanpy's neighbor graph.

scanpy's tools (``leiden``, ``umap``, ``paga``, ``diffmap``) read the graph of the cells from ``adata.obsp`` and find it
by ``adata.uns["neighbors"]``. :func:`neighbors` writes both as ``scanpy.pp.neighbors`` does.

References
----------
F. A. Wolf, P. Angerer and F. J. Theis. SCANPY: large-scale single-cell gene expression data analysis. Genome Biology
19, 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graspel.estimators.learner import GRASPEL
from graspel.graph import Graph, relative_weights
from graspel.runtime.optional import require_optional

PCA = "X_pca"  # where scanpy keeps principal components
LISTED_CELLS = 15  # neighbors of each cell in obsp["distances"], the cell itself counted: scanpy's own default


def neighbors(
    adata: Any,
    n_neighbors: int = 5,
    *,
    use_rep: str | None = None,
    key_added: str | None = None,
    learner: GRASPEL | None = None,
    random_state: Any = 0,
    copy: bool = False,
) -> Any:
    """Learn the graph of the cells, and store it where scanpy's tools look for it.

    Parameters
    ----------
    adata : AnnData
        The cells.
    n_neighbors : int, default=5
        Neighbors of each cell that the learner starts from; scanpy's own graph has 15. Not used if a learner is given.
    use_rep : str, default=None
        The matrix to learn from: "X", or a key of ``adata.obsm``. None: "X_pca" if there is one, else "X".
    key_added : str, default=None
        Name under which the graph is stored, as in scanpy; None: "neighbors".
    learner : GRASPEL, default=None
        How the graph is learned. None is ``GRASPEL(n_neighbors)``.
    random_state : int, default=0
        Seed, unless the learner has one.
    copy : bool, default=False
        Return a copy with the graph, and leave `adata` as it is.

    Returns
    -------
    AnnData or None
        ``obsp["connectivities"]`` holds relative weights in (0, 1] (:func:`graspel.graph.relative_weights`),
        ``obsp["distances"]`` the distances along the graph to the 14 nearest other cells of each, and
        ``uns["neighbors"]`` how they were made. Its ``n_neighbors`` is 15, the number of cells in these lists with the
        cell itself, by which ``scanpy.tl.ingest`` places new cells.

    Notes
    -----
    A graph with two edges a cell falls into more communities than one with fifteen: take a Leiden resolution of about
    0.1 (docs/howto/single-cells.md has figures).

    Examples
    --------
    >>> import anndata, numpy as np  # doctest: +SKIP
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 10)))  # doctest: +SKIP
    >>> graspel.integrations.scanpy.neighbors(adata)  # doctest: +SKIP
    >>> scanpy.tl.leiden(adata, resolution=0.1, flavor="igraph", n_iterations=2)  # doctest: +SKIP
    """
    require_optional("anndata", "scanpy", "graspel.integrations.scanpy")
    if not (hasattr(adata, "obsp") and hasattr(adata, "obsm")):
        raise TypeError(f"adata is a {type(adata).__name__}: must be an AnnData object.")
    if learner is not None and not isinstance(learner, GRASPEL):
        raise TypeError(f"learner={learner!r}: must be a GRASPEL, or None.")
    adata = adata.copy() if copy else adata
    rep = (PCA if PCA in adata.obsm else "X") if use_rep is None else use_rep
    model = _copy_learner(learner, n_neighbors, random_state)
    X = _representation(adata, rep)
    graph = model.fit(X).graph_
    prefix = "" if key_added is None else f"{key_added}_"
    connectivities, distances = f"{prefix}connectivities", f"{prefix}distances"
    nearest = _list_cells(model, graph)
    adata.obsp[connectivities] = sp.csr_matrix(relative_weights(graph).adjacency.astype(np.float32))
    adata.obsp[distances] = nearest
    params = {
        "n_neighbors": nearest.nnz // graph.n_nodes + 1,
        "method": "umap",  # scanpy's tools know only their own methods; this one means weights in (0, 1]
        "made_by": "graspel",
        "metric": model.metric if isinstance(model.metric, str) else "callable",
    }
    if use_rep is None and rep == PCA and "pca" in adata.uns:
        params["n_pcs"] = X.shape[1]  # ingest then projects new cells; told the key, it looks for X_pca among them
    else:
        params["use_rep"] = rep
    adata.uns["neighbors" if key_added is None else key_added] = {
        "connectivities_key": connectivities,
        "distances_key": distances,
        "params": params,
    }
    return adata if copy else None


def _copy_learner(learner: GRASPEL | None, n_neighbors: int, random_state: Any) -> GRASPEL:
    from sklearn.base import clone

    if learner is None:
        return GRASPEL(n_neighbors, random_state=random_state)
    model: GRASPEL = clone(learner)
    if model.random_state is None:
        model.random_state = random_state
    return model


def _representation(adata: Any, rep: str) -> Any:
    """The matrix that a key names."""
    if rep == "X":
        return adata.X
    if rep not in adata.obsm:
        known = ", ".join(map(repr, ("X", *adata.obsm)))
        raise ValueError(f"use_rep={rep!r}: must be one of {known}. Compute it first, for example by scanpy.pp.pca.")
    return adata.obsm[rep]


def _list_cells(model: GRASPEL, graph: Graph) -> sp.csr_matrix:
    """The distances along the graph from each cell to the nearest others, equally many in every row."""
    k = min(LISTED_CELLS, graph.n_nodes) - 1
    found = graph.neighbor_lists(k, lengths=model._fit.index.distances(graph.heads, graph.tails))
    order = np.argsort(found.indices, axis=1)
    # Tools that drop zeros must not drop copies of a cell.
    values = np.maximum(np.take_along_axis(found.distances, order, axis=1), np.finfo(np.float64).tiny)
    columns, start = np.take_along_axis(found.indices, order, axis=1), k * np.arange(graph.n_nodes + 1)
    return sp.csr_matrix((values.ravel(), columns.ravel(), start), shape=(graph.n_nodes, graph.n_nodes))
