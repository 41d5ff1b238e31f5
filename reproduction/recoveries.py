"""Graph recovery by every method that is compared: its settings, and a learner for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.datasets import smooth_signals
from graspel.graph import (
    Graph,
    erdos_renyi_graph,
    gaussian_graph,
    grid_graph,
    preferential_attachment_graph,
    stochastic_block_graph,
)
from graspel.runtime.parameters import generator

N_NODES, N_SIGNALS, NOISE = 20, 100, 0.5  # the protocol of Dong et al. (2016)
THRESHOLD = 1e-4  # learned weights below count as absent, at a total weight of N/2
PLANTED = 1000  # added to the seed of a graph for that of its signals

GRAPHS: dict[str, Callable[[int], Graph]] = {
    "gaussian": lambda seed: gaussian_graph(N_NODES, random_state=seed),
    "er": lambda seed: erdos_renyi_graph(N_NODES, 0.2, random_state=seed),
    "preferential": lambda seed: preferential_attachment_graph(N_NODES, random_state=seed),
    "grid": lambda seed: grid_graph(4, 5),
    "blocks": lambda seed: stochastic_block_graph([10, 10], 0.4, 0.05, random_state=seed),
}
GRAPH_TITLES = {
    "gaussian": "Gaussian",
    "er": "Erdos-Renyi",
    "preferential": "preferential attachment",
    "grid": "grid",
    "blocks": "stochastic blocks",
}


@dataclass(frozen=True)
class Method:
    """A method: its name for people, and how it learns a graph from signals (and the kind of graph, for settings)."""

    label: str
    learn: Callable[[Any, str], Graph]
    settings: str


def _ours(X: Any, kind: str) -> Graph:
    from graspel.recovery import GraphRecovery

    return GraphRecovery(random_state=0).fit(X).graph_


def _sigrep(X: Any, kind: str) -> Graph:
    from graspel.baselines import RECOVERY

    return RECOVERY["gl-sigrep"](alpha=1e-2, beta=10**-0.2 if kind == "gaussian" else 10**-0.6).learn(X)


def _baseline(name: str, **settings: Any) -> Callable[[Any, str], Graph]:
    def learn(X: Any, kind: str) -> Graph:
        from graspel.baselines import RECOVERY

        return RECOVERY[name](**settings).learn(X)

    return learn


def _lsgl(X: Any, kind: str) -> Graph:
    from scipy.spatial.distance import pdist

    from graspel.baselines.lsgl import LSGL

    return LSGL(degree=5).learn_from_distances(pdist(X, "sqeuclidean") / X.shape[1])


METHODS: dict[str, Method] = {
    "graspel": Method("GRASPEL (ours)", _ours, "defaults"),
    "gl-sigrep": Method("GL-SigRep", _sigrep, "alpha 0.01, beta 10^-0.2 (Gaussian), 10^-0.6 (others)"),
    "gl-logdet": Method("GL-LogDet", _baseline("gl-logdet", penalty=10.0), "lambda 10"),
    "glsc": Method("GLSC", _baseline("glsc", alpha=0.0), "alpha 0"),
    "lsgl": Method("LSGL", _lsgl, "degree 5"),
    "graphical-lasso": Method("graphical lasso", _baseline("graphical-lasso"), "alpha 0.1"),
}


def problem(kind: str, seed: int) -> tuple[Graph, np.ndarray]:
    """The true graph and its signals."""
    truth = GRAPHS[kind](seed)
    return truth, smooth_signals(truth, N_SIGNALS, noise=NOISE, random_state=generator(PLANTED + seed))


def of_unit_degree(graph: Graph) -> Graph:
    """The graph scaled to a total weight of N/2, at which thresholds mean the same for all methods."""
    return graph.scaled(graph.n_nodes / graph.degrees.sum()) if graph.n_edges else graph
