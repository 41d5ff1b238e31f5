r"""The plan of t-SNE: memory and time of `GraspelTSNE.fit`, predicted from the size of the data.

The graph is learned first (:mod:`graspel.scale.plan`, with lists of k neighbors). Then these stay in memory for each
point, and the affinities are made beside them:

    kept         GRAPH + 8 w + 4 D             graph and points, lists of w entries, sketch of D columns
    affinities   25 k                          shares C, their transpose, and the sum of both, at 8 bytes an entry
    forces       48 d                          coordinates, updates, gains and forces

The grid of the repulsion takes a fixed part. Processor time of an iteration is proportional to the number of points.
The constants are counts of the arrays above and estimates, not a fit; a test compares the peak at 60,000 points with a
measured one. The seconds were not compared with measured ones.
"""

from __future__ import annotations

from dataclasses import replace

from graspel.data.principal import MOST_SKETCH_DIMENSIONS
from graspel.neighbors.exact import EXTRA_CANDIDATES
from graspel.scale.plan import PARALLEL, Plan

FIXED = 100e6  # bytes: compiled loops, grids and their transforms
GRAPH = 400.0  # bytes per point: the graph, its groups, and what the learner keeps of the points
ENTRY = 25.0  # bytes for each neighbor that attracts a point
STEP_SECONDS = 1.2e-7  # seconds of one processor for each point in an iteration, beside its neighbors
PULL_SECONDS = 5e-9  # seconds of one processor for each neighbor of a point in an iteration


def plan_tsne(learning: Plan, n_neighbors: int, n_components: int, n_iter: int, n_threads: int) -> Plan:
    """The plan of t-SNE on all points, from the plan of learning their graph.

    >>> learning = Plan(1_000_000, 32, 0.0, memory=1e9, seconds=60.0, available=None)
    >>> plan = plan_tsne(learning, n_neighbors=30, n_components=2, n_iter=1000, n_threads=2)
    >>> 1e9 < plan.memory < 4e9, plan.seconds > learning.seconds
    (True, True)
    """
    width = n_neighbors + EXTRA_CANDIDATES
    kept = GRAPH + 8 * width + 4 * min(learning.n_features, MOST_SKETCH_DIMENSIONS)
    drawing = FIXED + learning.n_points * (kept + ENTRY * n_neighbors + 48 * n_components)
    iteration = learning.n_points * (STEP_SECONDS + PULL_SECONDS * n_neighbors)
    seconds = learning.seconds + n_iter * iteration * (1 - PARALLEL + PARALLEL / n_threads)
    return replace(learning, memory=max(learning.memory, drawing), seconds=seconds)
