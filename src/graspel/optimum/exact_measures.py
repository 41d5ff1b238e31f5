r"""Exact measures: what the exact elimination of a graph tells about the graph, for its certificate.

The search for the optimum (:mod:`graspel.optimum.search`) ends with the elimination of its last graph. Its objective,
resistances between any nodes and lambda_2 follow from that at the cost of a few solves, so that nothing has to be
estimated. The weights of the search are those of the graph times `unit`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from graspel.linalg.edge_resistances import Factor
from graspel.runtime.types import Floats, Ints

EIGEN_TOL = 1e-6  # relative error of lambda_2
FEW_NODES = 3  # nodes up to which eigenvalues come from the full inverse: Lanczos' method needs more


@dataclass(frozen=True)
class ExactMeasures:
    """The elimination of a graph whose weights were multiplied by `unit`, and the objective of the graph itself."""

    factor: Factor
    unit: float
    objective: float

    def resistance_between(self, nodes: Ints) -> Floats:
        """The resistances between all pairs of the given nodes, as a symmetric matrix."""
        columns = np.zeros((self.factor.pattern.n_nodes, len(nodes)))
        columns[nodes, np.arange(len(nodes))] = 1.0
        M = self.factor.prepare_solves().solve(columns)[nodes]
        d = np.diag(M)
        return np.asarray(np.maximum(d[:, None] + d - M - M.T, 0.0)) * self.unit

    def smallest_eigenvalue(self, rng: np.random.Generator) -> float:
        """The smallest nonzero eigenvalue of the Laplacian: one over the largest of L^+, by Lanczos' method."""
        n, ground, solves = self.factor.pattern.n_nodes, self.factor.pattern.ground, self.factor.prepare_solves()

        def apply(x: Floats) -> Floats:
            x = solves.solve((x - x.mean()).reshape(-1, 1))[:, 0]
            return x - x.mean()

        if n <= FEW_NODES:
            largest = float(np.linalg.eigvalsh(np.stack([apply(e) for e in np.eye(n)]))[-1])
        else:
            inverse = LinearOperator((n, n), matvec=apply, dtype=np.float64)
            found = eigsh(inverse, 1, which="LA", tol=EIGEN_TOL, v0=rng.standard_normal(n), return_eigenvectors=False)
            largest = float(found[0])
        return (1 / largest - ground) / self.unit
