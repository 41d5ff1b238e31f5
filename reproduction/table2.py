"""Table 2 of the paper, graph recovery: measured again, with peers.

Every method learns from the same signals and is scored twice: *as it comes*, where weights under 1e-4 count as no edge
and nothing is known of the true graph, and *by oracle*, at the threshold that agrees best with the true graph. The
paper's scores are of the second kind.

References
----------
X. Dong, D. Thanou, P. Frossard, P. Vandergheynst. Learning Laplacian matrix in smooth graph signal representations.
IEEE Transactions on Signal Processing 64, 2016.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graspel.datasets import smooth_signals
from graspel.graph import Graph, grid_graph
from graspel.graph.edges import edge_keys
from graspel.metrics import edge_scores
from graspel.runtime.parameters import generator
from reproduction.pages import join_page, measure_cells
from reproduction.paper import TABLE2
from reproduction.random_graphs import (
    erdos_renyi_graph,
    gaussian_graph,
    preferential_attachment_graph,
    stochastic_block_graph,
)
from reproduction.request import Request, choose_names
from reproduction.results import Results
from reproduction.tables import markdown_table, mean_and_spread
from reproduction.timing import time_call

SEEDS, QUICK_SEEDS = 20, 3  # graphs of each kind
PAPER_GRAPHS = ("gaussian", "er")
MEASURES = {"f_measure": "F", "precision": "precision", "recall": "recall", "nmi": "NMI"}
N_NODES, N_SIGNALS, NOISE = 20, 100, 0.5  # the protocol of Dong et al. (2016)
THRESHOLD = 1e-4  # learned weights below this count as no edge, when all weights sum to N / 2
SIGNAL_SEEDS = 1000  # the signals of graph i have the seed 1000 + i, so that graph and signals differ in seed

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
class RecoveryMethod:
    """A method of graph recovery.

    Attributes
    ----------
    label : str
        Name in tables and figures.
    learn : function
        Learns a graph from signals (nodes as rows) and the kind of graph, on which settings may depend.
    settings : str
        The settings, as text.
    """

    label: str
    learn: Callable[[Any, str], Graph]
    settings: str


def oracle_threshold(truth: Graph, learned: Graph) -> float:
    """The threshold at which F is largest. It needs the true graph, and so gives an upper limit for any threshold.

    Returns
    -------
    threshold : float
        A weight of the learned graph, the largest one with the best F; 0 if none of its edges is in the true graph.

    Examples
    --------
    >>> truth = Graph(4, [0, 1, 2], [1, 2, 3], 1.0)
    >>> oracle_threshold(truth, Graph(4, [0, 1, 0, 2], [1, 2, 3, 3], [0.9, 0.8, 0.1, 0.5]))
    0.5
    """
    order = np.argsort(-learned.weights, kind="stable")
    weights = learned.weights[order]
    keys, true_keys = (edge_keys(graph.heads, graph.tails, graph.n_nodes) for graph in (learned, truth))
    n_shared = np.cumsum(np.isin(keys[order], true_keys, assume_unique=True))
    if learned.n_edges == 0 or n_shared[-1] == 0:
        return 0.0
    f_measure = 2 * n_shared / (truth.n_edges + np.arange(1, learned.n_edges + 1))
    f_measure[:-1][weights[1:] == weights[:-1]] = 0.0  # no threshold separates edges of equal weight
    return float(weights[np.argmax(f_measure)])


def _learn_graspel(X: Any, kind: str) -> Graph:
    from graspel import GraspelRecovery

    return GraspelRecovery(random_state=0).fit(X).graph_


def _learn_by_algorithm_1(X: Any, kind: str) -> Graph:
    from graspel import GRASPEL

    return GRASPEL(5, random_state=0).fit(X).graph_


def _learn_gl_sigrep(X: Any, kind: str) -> Graph:
    from reproduction.baselines import RECOVERY

    return RECOVERY["gl-sigrep"](alpha=1e-2, beta=10**-0.2 if kind == "gaussian" else 10**-0.6).learn(X)


def _learn_log_degree(X: Any, kind: str) -> Graph:
    from reproduction.baselines import RECOVERY

    return RECOVERY["log-degree"](alpha=1.0, beta=10**0.8 if kind == "gaussian" else 10**0.4).learn(X)


def _learn_ngl(X: Any, kind: str) -> Graph:
    from reproduction.baselines import RECOVERY

    return RECOVERY["ngl"](penalty=1.2 if kind == "gaussian" else 3.2, gamma=0.03).learn(X)


def _learn_by_baseline(name: str, **settings: Any) -> Callable[[Any, str], Graph]:
    def learn(X: Any, kind: str) -> Graph:
        from reproduction.baselines import RECOVERY

        return RECOVERY[name](**settings).learn(X)

    return learn


def _learn_lsgl(X: Any, kind: str) -> Graph:
    from scipy.spatial.distance import pdist

    from reproduction.baselines import LSGL

    return LSGL(degree=5).learn_from_distances(pdist(X, "sqeuclidean") / X.shape[1])


METHODS: dict[str, RecoveryMethod] = {
    "graspel": RecoveryMethod("GraspelRecovery (ours)", _learn_graspel, "defaults"),
    "algorithm-1": RecoveryMethod("Algorithm 1 from 5NN", _learn_by_algorithm_1, "5 neighbors"),
    "gl-sigrep": RecoveryMethod("GL-SigRep", _learn_gl_sigrep, "alpha 0.01, beta 10^-0.2 (Gaussian), 10^-0.6 (others)"),
    "gl-logdet": RecoveryMethod("GL-LogDet", _learn_by_baseline("gl-logdet", penalty=10.0), "lambda 10"),
    "glsc": RecoveryMethod("GLSC", _learn_by_baseline("glsc", alpha=0.0), "alpha 0"),
    "ggl": RecoveryMethod("GGL", _learn_by_baseline("ggl", alpha=0.0), "alpha 0"),
    "log-degree": RecoveryMethod(
        "log-degree", _learn_log_degree, "alpha 1, beta 10^0.8 (Gaussian), 10^0.4 (others), chosen on other graphs"
    ),
    "ngl": RecoveryMethod(
        "NGL-MCP", _learn_ngl, "gamma 0.03, lambda 1.2 (Gaussian), 3.2 (others), chosen on other graphs"
    ),
    "lsgl": RecoveryMethod("LSGL", _learn_lsgl, "degree 5"),
    "graphical-lasso": RecoveryMethod("graphical lasso", _learn_by_baseline("graphical-lasso"), "alpha 0.1"),
}


def make_problem(kind: str, seed: int) -> tuple[Graph, np.ndarray]:
    """The true graph and its signals."""
    truth = GRAPHS[kind](seed)
    return truth, smooth_signals(truth, N_SIGNALS, noise=NOISE, random_state=generator(SIGNAL_SEEDS + seed))


def scale_to_unit_degree(graph: Graph) -> Graph:
    """The graph scaled to a mean degree of 1, so that one threshold means the same for all methods."""
    return graph.scaled(graph.n_nodes / graph.degrees.sum()) if graph.n_edges else graph


def run(request: Request, results: Results) -> str:
    """Measure the cells that are missing; return the tables as Markdown."""
    kinds = choose_names("only", request.only if request.only is not None else PAPER_GRAPHS, GRAPHS)
    methods = choose_names("methods", request.methods, METHODS)
    seeds = range(request.seeds or (QUICK_SEEDS if request.quick else SEEDS))
    cells = [(kind, name, seed) for kind in kinds for seed in seeds for name in methods]
    todo = {_key(*cell): lambda cell=cell: measure_recovery(*cell) for cell in cells}  # type: ignore[misc]
    measure_cells(results, "recovering graphs", todo)
    return join_page(
        results, "# Table 2, graph recovery", *(_write_section(results, kind, methods, seeds) for kind in kinds)
    )


def measure_recovery(kind: str, name: str, seed: int) -> dict[str, Any]:
    """Learn one graph, and score it both ways."""
    truth, X = make_problem(kind, seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds, learned = time_call(lambda: scale_to_unit_degree(METHODS[name].learn(X, kind)))
    plain = edge_scores(truth, learned, threshold=THRESHOLD)
    oracle = edge_scores(truth, learned, threshold=oracle_threshold(truth, learned))
    return {
        "plain": {measure: getattr(plain, measure) for measure in (*MEASURES, "weight_error")},
        "oracle": {measure: getattr(oracle, measure) for measure in MEASURES},
        "seconds": seconds,
        "warnings": [str(warning.message) for warning in caught],
    }


def _key(kind: str, name: str, seed: int) -> str:
    return f"{kind}/{name}/{seed}"


def _write_section(results: Results, kind: str, methods: Sequence[str], seeds: range) -> str:
    rows = []
    for name in methods:
        cells = [results[_key(kind, name, seed)] for seed in seeds]
        for column in ("plain", "oracle"):
            scores = [mean_and_spread([cell[column][measure] for cell in cells], 3) for measure in MEASURES]
            printed = TABLE2.get(kind, {}).get(name)
            paper = [f"{value:.3f}" for value in printed] if printed and column == "oracle" else [""] * len(MEASURES)
            how = "as it comes" if column == "plain" else "by oracle"
            seconds = mean_and_spread([cell["seconds"] for cell in cells], 2) if column == "plain" else ""
            rows.append([f"{METHODS[name].label}, {how}", *scores, seconds, *paper])
    header = ["method", *MEASURES.values(), "seconds", *(f"paper: {name}" for name in MEASURES.values())]
    settings = "; ".join(f"{METHODS[name].label}: {METHODS[name].settings}" for name in methods)
    title = f"## {GRAPH_TITLES[kind]} graph, 20 nodes, 100 signals, noise 0.5, {len(seeds)} graphs"
    note = (
        "*As it comes*: weights under 1e-4 count as no edge; nothing is known of the true graph. *By oracle*: at the "
        f"threshold that agrees best with the true graph, as in the paper. Settings: {settings}."
    )
    return f"{title}\n\n{markdown_table(header, rows)}\n\n{note}"
