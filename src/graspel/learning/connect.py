r"""Origin 1, connect: join the components of a graph by their closest pairs.

Where a graph falls apart, lambda_2 = 0 and z_emb between two components is constant: sigma^2 (1/n_a + 1/n_b). So
between them the pair of largest distortion eta = z_emb / z_data is the *closest* pair. The components are joined by
Boruvka's rounds: every component but the largest takes the closest pair that leads out of it. The joins are edges of
the minimum spanning tree between components, and there are exactly (components - 1) of them. Starting from single
points, the same rounds build the Euclidean minimum spanning tree.

Where the neighbor list of a point reaches out of its component, it holds the nearest point outside. Any other point is
*open*: all it knows is that what lies outside is farther than the end of its list. Only where that could still beat
the best pair known for its component is a search made among the points outside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from graspel.graph import Graph, Origin
from graspel.learning.history import Round
from graspel.learning.initial import InitialGraph
from graspel.neighbors.cells import Cells
from graspel.neighbors.exact import EXACT_WORK, exact_neighbors, exact_work
from graspel.neighbors.lists import Neighbors
from graspel.runtime.progress import announce

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

OUTSIDE_PROBES = 8  # cells with outside points that are opened, where computing every distance is too much


class Joins(NamedTuple):
    """Joining edges, their z_data, and the sizes of the two components that each of them joined."""

    heads: Ints
    tails: Ints
    z: Floats
    head_sizes: Ints
    tail_sizes: Ints


def connect_components(start: InitialGraph, *, sigma: float, beta: float, rng: np.random.Generator) -> Graph:
    """Join the components of the initial graph into one; this counts as the first round of densification.

    A graph without edges is given its minimum spanning tree instead, as its start (step TREE, round 0).
    """
    graph, weigh, neighbors = start
    if neighbors is None or graph.is_connected:
        return graph
    joins = join_components(neighbors, graph.components[1].astype(np.int64), rng)
    weights = weigh(joins.z)
    if graph.n_edges == 0:
        return graph.with_edges(joins.heads, joins.tails, weights, origin=Origin.TREE)
    z_emb = sigma**2 * (1 / joins.head_sizes + 1 / joins.tail_sizes)
    z = weigh.raised(joins.z)
    return graph.with_edges(
        joins.heads, joins.tails, weights, origin=Origin.JOIN, round=1, eta=z_emb / z, gradient=z_emb - z - 4 * beta
    )


def record_joins(start: Graph, graph: Graph, seconds: float) -> list[Round]:
    """The record of the joins, if there are any: the round in which the graph was not connected yet."""
    eta = graph.eta[graph.origin == Origin.JOIN]
    if not len(eta):
        return []
    return [
        Round(
            round=1,
            max_eta=float(eta.max()),
            mean_eta=float(eta.mean()),
            n_added=len(eta),
            density=start.density,
            eigenvalues=np.zeros(len(eta)),
            objective=float("nan"),
            seconds=seconds,
        )
    ]


def join_components(neighbors: Neighbors, labels: Ints, rng: np.random.Generator) -> Joins:
    """Join the components given by `labels` (one per point) into one, by Boruvka's rounds."""
    number = total = int(labels.max()) + 1
    cells = neighbors.cells
    copies, originals = neighbors.copies, neighbors.copy_of
    rounds = [_chosen(copies, originals, np.zeros(len(copies)), labels, number)]  # copies first: nothing is closer
    number, labels = _merged(labels, number, rounds[-1])
    while number > 1:
        announce("joining components", 1 - number / total, f"{number:,} components left")
        local = labels[neighbors.distinct]
        p, q, z = _closest_in_lists(neighbors, local, number)
        open_points = _open_points(neighbors, local, z)
        largest = np.bincount(local).argmax()  # needs no pair of its own: the others will join it
        z[largest] = np.inf if (local[open_points] == largest).any() else z[largest]
        open_points = open_points[local[open_points] != largest]
        if len(open_points):
            too_much = exact_work(neighbors.points, len(open_points)) > EXACT_WORK
            cells = Cells.of(neighbors.points, rng) if too_much and cells is None else cells
            p, q, z = _search_outside(neighbors, local, open_points, (p, q, z), cells if too_much else None)
        found = np.isfinite(z)
        p, q = neighbors.distinct[p[found]], neighbors.distinct[q[found]]
        rounds.append(_chosen(p, q, z[found], labels, number))
        number, labels = _merged(labels, number, rounds[-1])
    return Joins(*(np.concatenate(column) for column in zip(*rounds, strict=True)))


def _closest_in_lists(neighbors: Neighbors, labels: Ints, number: int) -> tuple[Ints, Ints, Floats]:
    """For every component the closest pair (p inside, q outside) that the neighbor lists show; z = inf where none."""
    outside = labels[neighbors.indices] != labels[:, None]
    first = outside.argmax(axis=1)
    everyone = np.arange(len(labels))
    z = np.where(outside[everyone, first], neighbors.z[everyone, first], np.inf)
    return _best_per_component(everyone, neighbors.indices[everyone, first], z, labels, number)


def _best_per_component(p: Ints, q: Ints, z: Floats, labels: Ints, number: int) -> tuple[Ints, Ints, Floats]:
    """Of the pairs (p, q), the closest for the component of each p; ties go to the smaller pair of numbers."""
    low, high = np.minimum(p, q), np.maximum(p, q)
    order = np.lexsort((high, low, z, labels[p]))
    component, first = np.unique(labels[p][order], return_index=True)
    best = order[first]
    result = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64), np.full(number, np.inf)
    for column, values in zip(result, (p, q, z), strict=True):
        column[component] = values[best]
    return result


def _open_points(neighbors: Neighbors, labels: Ints, best: Floats) -> Ints:
    """Points whose list stays inside their component and ends nearer than the best pair known for it."""
    inside = (labels[neighbors.indices] == labels[:, None]).all(axis=1)
    end = np.where(np.isfinite(neighbors.z), neighbors.z, 0.0).max(axis=1)  # a short list is filled up with inf
    return np.flatnonzero(inside & (end < best[labels]))


def _search_outside(
    neighbors: Neighbors,
    labels: Ints,
    open_points: Ints,
    known: tuple[Ints, Ints, Floats],
    cells: Cells | None,
) -> tuple[Ints, Ints, Floats]:
    """Search the open points of each component among the points outside it, and merge with the pairs known."""
    pairs = [known]
    by_component = open_points[np.argsort(labels[open_points], kind="stable")]
    for queries in np.split(by_component, np.flatnonzero(np.diff(labels[by_component])) + 1):
        inside = labels[queries[0]]
        if cells is None:
            q, z = exact_neighbors(neighbors.points, queries, 1, np.flatnonzero(labels != inside))
            pairs.append((queries, q[:, 0], z[:, 0]))
        else:
            pairs.append(cells.nearest_outside(queries, labels != inside, OUTSIDE_PROBES, best=known[2][inside]))
    p, q, z = (np.concatenate(column) for column in zip(*pairs, strict=True))
    found = np.isfinite(z)
    return _best_per_component(p[found], q[found], z[found], labels, len(known[2]))


def _chosen(p: Ints, q: Ints, z: Floats, labels: Ints, number: int) -> Joins:
    """The joins of one round: the pairs by growing distance, less those that would close a cycle."""
    heads, tails = np.minimum(p, q), np.maximum(p, q)
    order = np.lexsort((tails, heads, z))
    heads, tails, z = heads[order], tails[order], z[order]
    kept = _without_cycles(labels[heads], labels[tails], number)
    heads, tails, z = heads[kept], tails[kept], z[kept]
    sizes = np.bincount(labels, minlength=number)
    return Joins(heads, tails, z, sizes[labels[heads]], sizes[labels[tails]])


def _without_cycles(a: Ints, b: Ints, number: int) -> Ints:
    """Walk the pairs in order and keep those that join two parts that are still apart (ties can close cycles)."""
    parent = list(range(number))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    kept = []
    for i, (left, right) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        left, right = root(left), root(right)
        if left != right:
            parent[left] = right
            kept.append(i)
    return np.array(kept, dtype=np.int64)


def _merged(labels: Ints, number: int, joins: Joins) -> tuple[int, Ints]:
    """Labels after the joins of one round."""
    ends = labels[joins.heads], labels[joins.tails]
    links = sp.coo_array((np.ones(len(joins.heads)), ends), shape=(number, number))
    number, new = connected_components(links, directed=False)
    return number, new[labels].astype(np.int64)
