from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import f1_score, normalized_mutual_info_score, precision_score, recall_score

from graspel import Graph
from graspel.graph import grid_graph
from graspel.metrics import edge_scores
from graspel.metrics.recovery import nmi_of_counts, resistance_agreement, weight_error
from reproduction.random_graphs import erdos_renyi_graph, preferential_attachment_graph
from toy_graphs import complete, path, single_node, two_isolated_nodes
from twins import resistances


def labels(graph, threshold=0.0):
    """Edge or no edge, for all pairs."""
    weights = graph.adjacency.toarray()[np.triu_indices(graph.n_nodes, 1)]
    return (weights > 0) & (weights >= threshold)


def two_graphs(seed, n=15):
    rng = np.random.default_rng(seed)
    truth, learned = erdos_renyi_graph(n, 0.3, rng), erdos_renyi_graph(n, 0.4, rng)
    return truth, learned.with_weights(rng.uniform(0.01, 1, learned.n_edges))


def test_by_hand():
    truth = Graph(4, [0, 1, 2], [1, 2, 3], 1.0)
    scores = edge_scores(truth, Graph(4, [0, 1, 0, 1], [1, 2, 3, 3], [1.0, 1.0, 1.0, 1.0]))
    assert (scores.n_true, scores.n_learned, scores.n_shared) == (3, 4, 2)
    assert scores.precision == 1 / 2
    assert scores.recall == 2 / 3
    assert scores.f_measure == pytest.approx(4 / 7)
    # Of the six pairs 2 are shared, 1 missed, 2 false and 1 rightly absent.
    information = (2 * np.log(2 * 6 / 12) + np.log(6 / 6) + 2 * np.log(2 * 6 / 12) + np.log(6 / 6)) / 6
    assert information == 0
    assert scores.nmi == pytest.approx(0, abs=1e-12)
    # Shares 1/3, 1/3, 1/3 against four of 1/4: sqrt(2/144 + 1/9 + 2/16) / sqrt(1/3)
    assert scores.weight_error == pytest.approx(np.sqrt((2 / 144 + 1 / 9 + 2 / 16) * 3))


@pytest.mark.parametrize("threshold", [0.0, 0.3])
def test_edges_are_scored_as_labels_of_all_pairs(seed, threshold):
    truth, learned = two_graphs(seed)
    scores = edge_scores(truth, learned, threshold=threshold)
    y, y_learned = labels(truth), labels(learned, threshold)
    assert scores.precision == pytest.approx(precision_score(y, y_learned))
    assert scores.recall == pytest.approx(recall_score(y, y_learned))
    assert scores.f_measure == pytest.approx(f1_score(y, y_learned))
    assert scores.nmi == pytest.approx(normalized_mutual_info_score(y, y_learned, average_method="arithmetic"))


def test_weights_and_resistances_are_those_of_the_whole_graph(seed):
    truth, learned = two_graphs(seed)
    scores = edge_scores(truth, learned, threshold=0.3)
    W, W_true = (A / A.sum() for A in (learned.adjacency.toarray(), truth.adjacency.toarray()))
    assert scores.weight_error == pytest.approx(np.linalg.norm(W - W_true) / np.linalg.norm(W_true))
    pairs = np.triu_indices(15, 1)
    rank_correlation = spearmanr(resistances(truth)[pairs].round(9), resistances(learned)[pairs].round(9)).statistic
    assert scores.resistance_agreement == pytest.approx(rank_correlation, abs=1e-4)


def test_the_truth_itself_scores_one(connected_graph):
    scores = edge_scores(connected_graph, connected_graph.scaled(3.0))
    assert scores.precision == scores.recall == scores.f_measure == 1
    assert scores.nmi == pytest.approx(1)
    assert scores.weight_error == pytest.approx(0, abs=1e-12)
    assert np.isnan(scores.resistance_agreement) or scores.resistance_agreement == pytest.approx(1)


def test_graphs_without_edges():
    empty = Graph(10, [], [], [])
    scores = edge_scores(path(10), empty)
    assert scores.precision == scores.recall == scores.f_measure == scores.nmi == 0
    assert scores.weight_error == 1
    assert np.isnan(scores.resistance_agreement)
    assert edge_scores(empty, path(10)).weight_error == np.inf
    assert edge_scores(two_isolated_nodes(), two_isolated_nodes()).nmi == 1
    assert edge_scores(single_node(), single_node()).weight_error == 0
    assert edge_scores(complete(6), Graph(6, [], [], [])).nmi == 0


def test_pairs_of_different_components_rank_last():
    components = Graph(4, [0, 2], [1, 3], [1.0, 2.0])
    assert resistance_agreement(components, components) == 1
    assert resistance_agreement(path(4), components) == pytest.approx(
        spearmanr([1, 2, 3, 1, 2, 1], [5, 9, 9, 9, 9, 2]).statistic
    )


def test_large_graphs_are_scored_without_all_pairs():
    truth = preferential_attachment_graph(30_000, 1, random_state=0)
    kept = np.random.default_rng(0).random(truth.n_edges) < 0.5
    learned = Graph(30_000, truth.heads[kept], truth.tails[kept], truth.weights[kept])
    scores = edge_scores(truth, learned)
    assert scores.precision == 1
    assert scores.recall == kept.mean()
    assert 0.4 < scores.nmi < 0.7
    assert weight_error(truth, truth) == 0


def test_nmi_of_a_large_sparse_graph_keeps_its_digits():
    """With n edges of which half are found, NMI -> 2 * (1/2) log n / (3/2 log n) = 2/3 as pairs grow."""
    values = [nmi_of_counts(500, 1000, 500, n_pairs) for n_pairs in (10**6, 10**9, 10**15)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(2 / 3, abs=0.03)


def test_another_size_is_refused():
    with pytest.raises(ValueError, match="a truth of 20 nodes and a learned graph of 10: both need the same nodes"):
        edge_scores(grid_graph(4, 5), path(10))
    with pytest.raises(ValueError, match="threshold=-1: must be a number of at least 0"):
        edge_scores(path(10), path(10), threshold=-1)
