"""Connectivity bounds never exceed lambda_2, and nearly reach it for small components."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graspel.linalg.components import MAX_STACKED, Components, connectivity_bounds
from linalg.zoo import reweighted, union
from toy_graphs import complete, cycle, grid, path, star


def test_bounds_are_below_lambda_2(seed):
    shapes = [path(2), path(2), path(5), cycle(5), star(5), complete(5), grid(3, 3), path(9), grid(4, 5), path(30)]
    graphs = [reweighted(shape, decades, seed) for decades in (0, 2, 6) for shape in shapes] + [path(1)]
    whole = union(*graphs)
    components = Components.of(whole.adjacency)
    order = np.argsort(components.labels, kind="stable")
    bounds = connectivity_bounds(sp.csr_array(whole.adjacency[order][:, order]), components)
    first_nodes = np.cumsum([graph.n_nodes for graph in graphs]) - [graph.n_nodes for graph in graphs]
    for graph, bound in zip(graphs, bounds[components.labels[first_nodes]], strict=True):
        if graph.n_nodes == 1:
            assert bound == np.inf
            continue
        lambda_2, largest = np.linalg.eigvalsh(graph.laplacian.toarray())[[1, -1]]
        assert 0 < bound <= lambda_2 + 1e-14 * largest
        if graph.n_nodes <= MAX_STACKED:
            assert bound >= lambda_2 - 1e-12 * largest
