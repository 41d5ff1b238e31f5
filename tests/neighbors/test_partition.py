"""The partition: every row in one cell, near its center."""

from __future__ import annotations

import numpy as np
import pytest

import graspel.neighbors.cells as partition
from graspel.neighbors.cells import CellPartition, assign_to_centers, lloyd, search_cells


def rows(rng: np.random.Generator, n: int = 1500) -> np.ndarray:
    return (rng.standard_normal((n, 3)) + 4 * rng.standard_normal((9, 3))[rng.integers(9, size=n)]).astype(np.float32)


@pytest.mark.parametrize("many", [2048, 5])  # 5: the centers are partitioned too
def test_every_row_is_in_one_cell(rng, monkeypatch, many):
    monkeypatch.setattr(partition, "MANY_CENTERS", many)
    X = rows(rng)
    found = CellPartition.build(X, 50, rng, 1)
    assert sorted(found.members.tolist()) == list(range(len(X)))
    assert np.concatenate([found.rows_of(c) for c in range(found.n_cells)]).tolist() == found.members.tolist()
    assert 15 <= found.n_cells <= 60


def test_rows_are_in_the_cell_of_the_nearest_center(rng):
    X = rows(rng)
    found = CellPartition.build(X, 50, rng, 1)
    truth = assign_to_centers(X, found.centers, 1)
    cell = np.empty(len(X), dtype=int)
    cell[found.members] = np.repeat(np.arange(found.n_cells), np.diff(found.start))
    distance = np.linalg.norm(X - found.centers[cell], axis=1)
    assert distance == pytest.approx(np.linalg.norm(X - found.centers[truth], axis=1), rel=1e-2, abs=1e-2)


def test_searching_all_cells_finds_the_nearest_rows(rng):
    X = rows(rng, 400)
    found = CellPartition.build(X, 50, rng, 1)
    nearest = search_cells(X[:20], X, found, 4, found.n_cells, 1)
    D = ((X[:20, None].astype(float) - X) ** 2).sum(axis=2)
    assert np.sort(np.take_along_axis(D, nearest, axis=1)) == pytest.approx(np.sort(D)[:, :4], rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("n_threads", [2, 4])
def test_threads_change_nothing(n_threads):
    X = rows(np.random.default_rng(0))
    one, other = (CellPartition.build(X, 50, np.random.default_rng(1), n) for n in (1, n_threads))
    assert (one.centers == other.centers).all()
    assert (one.members == other.members).all()


def test_lloyd_lowers_the_distance_to_the_centers(rng, monkeypatch):
    X = rows(rng)
    costs = []
    for n_rounds in (0, 1, 8):
        monkeypatch.setattr(partition, "LLOYD_ROUNDS", n_rounds)
        centers = lloyd(X, 9, np.random.default_rng(0))
        costs.append(((X - centers[assign_to_centers(X, centers, 1)]) ** 2).sum())
    assert costs == sorted(costs, reverse=True)
    assert len(lloyd(X[:3], 9, rng)) == 3  # no more centers than rows
