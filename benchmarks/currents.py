"""Networks from voltages and currents: grids and triangulations of random points, with noise in either.

python -m benchmarks.currents            # continues where an earlier run stopped
python -m benchmarks.currents --fresh    # forget what earlier runs measured
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay

from benchmarks.sections import Run, run_sections, titled_table
from graspel import GraspelRecovery
from graspel.graph import Graph, grid_graph
from graspel.linalg import LaplacianSolver
from graspel.metrics import edge_scores

NOISE = {
    "exact": (0.0, 0.0),
    "currents 5 %": (0.0, 0.05),
    "and voltages 1 %": (0.01, 0.05),
    "voltages 5 %": (0.05, 0.0),
}
SEEDS = 3


def make_network(kind: str, side: int, seed: int) -> Graph:
    """A network of side^2 nodes, with conductances whose logarithms have the standard deviation 0.5."""
    rng = np.random.default_rng(seed)
    network = grid_graph(side, side)
    if kind == "triangulation":
        triangles = Delaunay(rng.random((side**2, 2))).simplices
        ends = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2), axis=1), axis=0)
        network = Graph(side**2, ends[:, 0], ends[:, 1], 1.0)
    return network.with_weights(np.exp(0.5 * rng.normal(size=network.n_edges)))


def measure_network(kind: str, side: int, n_measurements: int, noise: tuple[float, float]) -> list[float]:
    """F-measure and relative error of the weights, mean over seeds; noise in units of the standard deviation."""
    found = []
    for seed in range(SEEDS):
        network, rng = make_network(kind, side, seed), np.random.default_rng(seed + 1)
        Y = rng.normal(size=(side**2, n_measurements))
        Y -= Y.mean(axis=0)
        X = LaplacianSolver(network.adjacency, random_state=0).solve(Y, 1e-12)
        noisy = (
            values + s * values.std() * rng.normal(size=values.shape) for s, values in zip(noise, (X, Y), strict=True)
        )
        voltages, currents = noisy
        graph = GraspelRecovery(random_state=0).fit(voltages, currents=currents).graph_
        A = network.adjacency.toarray()
        error = float(np.linalg.norm(A - graph.adjacency.toarray()) / np.linalg.norm(A))
        found.append((edge_scores(network, graph).f_measure, error))
    return [float(value) for value in np.mean(found, axis=0)]


def networks(results: Run) -> str:
    """All networks."""
    rows = []
    for kind in ("grid", "triangulation"):
        for side in (10, 30):
            for m in (10, 50):
                cells = []
                for label, noise in NOISE.items():
                    key = f"{kind}/{side}/{m}/{label}"
                    F, error = results.measure(key, lambda a=(kind, side, m, noise): measure_network(*a))
                    cells.append(f"{F:.3f} ({100 * error:.0f} %)")
                rows.append([f"{kind}, {side**2} nodes, {m} measurements", *cells])
    return titled_table(f"F-measure (error of the weights), mean of {SEEDS}", ["network", *NOISE], rows)


if __name__ == "__main__":
    run_sections("currents", __doc__, {"networks": networks})
