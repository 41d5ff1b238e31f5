"""Smooth signals: their covariance is that of the graph, however they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from graspel import datasets
from graspel.datasets import smooth_signals
from graspel.graph import Graph, grid_graph
from reproduction.random_graphs import gaussian_graph
from toy_graphs import path, several_components
from twins import laplacian


@pytest.mark.parametrize("dense", [2000, 0], ids=["root", "flows"])
@pytest.mark.parametrize("make", [lambda: gaussian_graph(12, 0.7, random_state=0), several_components])
def test_signals_have_the_covariance_of_the_graph(monkeypatch, dense, make):
    """pinv(L) + noise^2 I, L of trace N, to within the error of 4,000 samples."""
    monkeypatch.setattr(datasets, "DENSE", dense)
    graph, noise, n_signals = make(), 0.3, 4_000
    X = smooth_signals(graph, n_signals, noise, random_state=1)
    n = graph.n_nodes
    L = laplacian(graph)
    C = np.linalg.pinv(L * n / np.trace(L), rcond=1e-10, hermitian=True) + noise**2 * np.eye(n)
    error = np.sqrt((np.outer(np.diag(C), np.diag(C)) + C**2) / n_signals)
    assert (np.abs(X @ X.T / n_signals - C) < 5 * error).all()


def test_signals_do_not_depend_on_the_scale_of_the_weights(seed):
    graph = gaussian_graph(20, random_state=seed)
    X = smooth_signals(graph, 5, random_state=seed)
    assert smooth_signals(graph.scaled(4.0), 5, random_state=seed) == pytest.approx(X)
    assert (smooth_signals(graph, 5, random_state=seed) == X).all()


def test_signals_on_a_large_graph_are_smooth():
    graph = grid_graph(60, 60)
    X = smooth_signals(graph, 20, noise=0.0, random_state=0)
    assert X.shape == (3600, 20)
    assert X.sum(axis=0) == pytest.approx(np.zeros(20), abs=1e-6)
    # E x'Lx = N - 1, with L scaled to trace N
    L = graph.laplacian * (3600 / graph.laplacian.trace())
    assert np.einsum("ij,ij->", X, L @ X) / 20 == pytest.approx(3599, rel=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smooth_signals(Graph(3, [], [], [])), "without edges"),
        (lambda: smooth_signals(path(), n_signals=0), "n_signals=0: must be a whole number"),
        (lambda: smooth_signals(path(), noise=-1), "noise=-1: must be a number of at least 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
