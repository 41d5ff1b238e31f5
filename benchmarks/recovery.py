"""Graph recovery: around the number of nodes where resistances become estimates, and which pairs small graphs look at.

    python -m benchmarks.recovery                  # everything; continues where an earlier run stopped
    python -m benchmarks.recovery --only large     # large, grids, small
    python -m benchmarks.recovery --fresh          # forget what earlier runs measured

`small` needs networkx. Of its kinds of graphs, the first ten were there when the rule of the default was chosen (see
docs/notes/recovery.md); the others were drawn afterwards to confirm it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.sections import Run, run_sections, titled_table
from graspel import GraspelRecovery
from graspel.datasets import smooth_signals
from graspel.graph import Graph, grid_graph
from graspel.metrics import edge_scores
from reproduction.random_graphs import erdos_renyi_graph, gaussian_graph

NOISE = 0.5  # standard deviation of the noise
SIZES = (2500, 4900, 5184, 10_000)  # nodes; above 5,000 resistances are exact only where elimination is cheap
SIGNALS = (50, 100, 200, 500)
LARGEST_GRIDS = (200, 316)  # sides
DEGREE = 14  # mean degree of the Gaussian graphs, and 12 of the Erdos-Renyi graphs: few are connected with less
RULE_SEEDS, RULE_SIZES = (0, 1), (30, 64)
RULE_SIGNALS = (20, 50, 100, 200)

LARGE: dict[str, Callable[[int], Graph]] = {
    "grid": lambda n: grid_graph(round(n**0.5), round(n**0.5)),
    "Gaussian": lambda n: gaussian_graph(n, sigma=float(np.sqrt(DEGREE / (n * np.pi)) / 0.7585), random_state=0),
    "Erdos-Renyi": lambda n: erdos_renyi_graph(n, 12 / n, random_state=0),
}


def recover(truth: Graph, n_signals: int, noise: float, seed: int, **parameters: Any) -> dict[str, Any]:
    """F-measure and density of the recovered graph, and what it took."""
    X = smooth_signals(truth, n_signals=n_signals, noise=noise, random_state=seed)
    clock, cpu = time.perf_counter(), time.process_time()
    model = GraspelRecovery(random_state=0, **parameters).fit(X)
    return {
        "F": edge_scores(truth, model.graph_).f_measure,
        "density": model.graph_.density,
        "exact": bool(model.certificate_.exact),
        "seconds": time.perf_counter() - clock,
        "cpu": time.process_time() - cpu,
    }


def show_large(m: dict[str, Any]) -> str:
    """F, a star where resistances were estimated, and seconds of the processor."""
    return f"{m['F']:.3f}{'' if m['exact'] else '*'} ({m['cpu']:.0f} s)"


def large(results: Run) -> str:
    """Grids, Gaussian and Erdos-Renyi graphs around 5,000 nodes."""
    rows = []
    for kind, make in LARGE.items():
        for n in SIZES:
            found = [
                results.measure(f"large/{kind}/{n}/{m}", lambda a=(make, n, m): recover(a[0](a[1]), a[2], NOISE, 0))
                for m in SIGNALS
            ]
            rows.append([kind, f"{n:,}", *map(show_large, found)])
    title = "F-measure by number of signals, noise 0.5 (seconds of the processor; * resistances were estimated)"
    return titled_table(title, ["graph", "nodes", *map(str, SIGNALS)], rows)


def grids(results: Run) -> str:
    """Grids up to 100,000 nodes."""
    rows = []
    for side in LARGEST_GRIDS:
        found = [
            results.measure(f"grids/{side}/{m}", lambda a=(side, m): recover(grid_graph(a[0], a[0]), a[1], NOISE, 0))
            for m in SIGNALS[:2]
        ]
        rows.append([f"{side**2:,}", *map(show_large, found)])
    return titled_table("Larger grids, the same", ["nodes", *map(str, SIGNALS[:2])], rows)


def from_networkx(G: Any, rng: np.random.Generator, *, uneven: bool) -> Graph:
    """The edges of a graph of networkx, with equal weights or random ones from 0.5 to 2."""
    ends = np.array(sorted(tuple(sorted(edge)) for edge in G.edges()))
    weights = rng.uniform(0.5, 2, len(ends)) if uneven else np.ones(len(ends))
    return Graph(G.number_of_nodes(), ends[:, 0], ends[:, 1], weights)


def draw_connected(draw: Callable[[int], Any], seed: int) -> Any:
    """The first connected graph of a kind."""
    import networkx as nx

    return next(G for G in (draw(1000 * seed + attempt) for attempt in range(1000)) if nx.is_connected(G))


def draw_triangles(n: int, rng: np.random.Generator) -> Any:
    """The Delaunay triangulation of random points."""
    import networkx as nx
    from scipy.spatial import Delaunay

    corners = Delaunay(rng.random((n, 2))).simplices
    return nx.Graph([(int(t[i]), int(t[j])) for t in corners for i, j in ((0, 1), (1, 2), (0, 2))])


def draw_caterpillar(n: int, rng: np.random.Generator) -> Any:
    """A path of an eighth of the nodes, with all others hanging on it."""
    import networkx as nx

    back = max(3, n // 8)
    leaves = [(v, int(rng.integers(back))) for v in range(back, n)]
    return nx.Graph([*((v, v + 1) for v in range(back - 1)), *leaves])


def draw_small(kind: str, n: int, seed: int) -> Graph:
    """A graph of about n nodes; those of odd seeds have uneven weights."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    if kind == "Gaussian":
        return gaussian_graph(n, random_state=seed)
    side = round((n / 4) ** 0.5)
    draw: dict[str, Callable[[int], Any]] = {
        "random tree": lambda s: nx.random_labeled_tree(n, seed=s),
        "cycle": lambda s: nx.cycle_graph(n),
        "ladder": lambda s: nx.ladder_graph(n // 2),
        "attachment of 2": lambda s: nx.barabasi_albert_graph(n, 2, seed=s),
        "attachment of 3": lambda s: nx.barabasi_albert_graph(n, 3, seed=s),
        "small world of 4": lambda s: nx.watts_strogatz_graph(n, 4, 0.1, seed=s),
        "small world of 6": lambda s: nx.watts_strogatz_graph(n, 6, 0.2, seed=s),
        "triangulation": lambda s: draw_triangles(n, rng),
        "geometric": lambda s: nx.random_geometric_graph(n, 1.15 * np.sqrt(10 / np.pi / n), seed=s),
        "random of 8": lambda s: nx.gnp_random_graph(n, 8 / n, seed=s),
        "caterpillar": lambda s: draw_caterpillar(n, rng),
        "attachment of 1": lambda s: nx.barabasi_albert_graph(n, 1, seed=s),
        "hexagons": lambda s: nx.convert_node_labels_to_integers(nx.hexagonal_lattice_graph(side, side)),
        "grid": lambda s: nx.convert_node_labels_to_integers(nx.grid_2d_graph(int(n**0.5), int(n**0.5))),
        "regular of 3": lambda s: nx.random_regular_graph(3, n + n % 2, seed=s),
        "regular of 4": lambda s: nx.random_regular_graph(4, n, seed=s),
        "power law": lambda s: nx.powerlaw_cluster_graph(n, 2, 0.5, seed=s),
        "random of 5": lambda s: nx.gnp_random_graph(n, 5 / n, seed=s),
        "blocks": lambda s: nx.planted_partition_graph(3, n // 3, 12 / n, 1 / n, seed=s),
    }
    return from_networkx(draw_connected(draw[kind], seed), rng, uneven=seed % 2 == 1)


FIRST = (
    "random tree", "cycle", "ladder", "attachment of 2", "attachment of 3", "small world of 4", "small world of 6",
    "triangulation", "geometric", "random of 8",
)  # fmt: skip
FRESH = (
    "caterpillar", "attachment of 1", "hexagons", "grid", "regular of 3", "regular of 4", "power law", "random of 5",
    "blocks", "Gaussian",
)  # fmt: skip
WAYS: dict[str, bool | None] = {"all": True, "edges": False, "default": None}


def measure_small(kind: str, n_signals: int) -> dict[str, float]:
    """Mean F of the three ways over sizes and seeds, with a noise of 0.1 and 0.5."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for n in RULE_SIZES:
        for seed in RULE_SEEDS:
            truth = draw_small(kind, n, seed)
            for noise in (0.1, 0.5):
                for way, all_pairs in WAYS.items():
                    found[way].append(recover(truth, n_signals, noise, 1000 + seed, all_pairs=all_pairs)["F"])
    return {way: float(np.mean(values)) for way, values in found.items()}


def small(results: Run) -> str:
    """All pairs, the learner's edges, and what the default makes of them."""
    parts = []
    for title, kinds in (("Kinds that the rule was chosen on", FIRST), ("Kinds drawn afterwards", FRESH)):
        found = {
            (kind, m): results.measure(f"small/{kind}/{m}", lambda a=(kind, m): measure_small(*a))
            for kind in kinds
            for m in RULE_SIGNALS
        }
        show = "{all:.2f} / {edges:.2f} / {default:.2f}"
        rows = [[kind, *(show.format(**found[kind, m]) for m in RULE_SIGNALS)] for kind in kinds]
        means = {m: {way: np.mean([found[kind, m][way] for kind in kinds]) for way in WAYS} for m in RULE_SIGNALS}
        rows.append(["mean", *(show.format(**means[m]) for m in RULE_SIGNALS)])
        head = f"{title}, {RULE_SIZES[0]} to {RULE_SIZES[-1]} nodes; F of all pairs / learner's edges / default"
        parts.append(titled_table(head, ["graph", *(f"{m} signals" for m in RULE_SIGNALS)], rows))
    return "\n\n".join(parts)


SECTIONS = {"large": large, "grids": grids, "small": small}

if __name__ == "__main__":
    run_sections("recovery", __doc__, SECTIONS)
