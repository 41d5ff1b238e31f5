"""RunState, where a run stands, and Fit, what it leaves behind and what can be asked of it."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from graspel.data.protocol import Data
from graspel.graph import Graph
from graspel.io.models import check_array_read
from graspel.learning.embed import Embedding
from graspel.learning.history import Round
from graspel.learning.settings import Settings
from graspel.learning.weights import Weights
from graspel.neighbors.index import NeighborIndex
from graspel.optimum.oracles import ExactMeasures
from graspel.optimum.problem import Optimality
from graspel.runtime.types import Floats


@dataclass
class RunState:
    """Where a run stands: its graph, the rule of the weights, and the embedding of the last round (None before it).

    `search` is the state of the search for the optimum, None if there is no such search, or before its first round.
    """

    graph: Graph
    weigh: Weights
    embedding: Embedding | None = None
    search: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What a run leaves behind.

    Attributes
    ----------
    graph : Graph, calibrated
    z : array, z_data of its edges: squared distances in the data
    history : list of Round
    settled : bool, whether the stability rule was met
    out_of_rounds : bool, whether max_iter ended the rounds before the rule or the callback did
    tolerance : float, of the stability rule on the last graph
    index : NeighborIndex, the data and what is left of their neighbor lists
    settings : Settings of the run
    weigh : Weights, the rule of the weights
    random_state : dict, the state in which the run left its random generator
    support_gap : float or None, how far refined weights are from their optimum
    embedding : Embedding or None, of the last round
    optimality : Optimality or None, how near the graph is to the optimum over all graphs, if that was searched
    exact : ExactMeasures or None, the elimination of the graph, if the search for the optimum was exact
    """

    graph: Graph
    z: Floats
    history: list[Round]
    settled: bool
    out_of_rounds: bool
    tolerance: float
    index: NeighborIndex
    settings: Settings
    weigh: Weights
    random_state: dict[str, Any]
    support_gap: float | None = None
    embedding: Embedding | None = None
    optimality: Optimality | None = None
    exact: ExactMeasures | None = None

    def check_restored(self) -> None:
        """Raise unless the arrays, read from a file, fit each other."""
        check_array_read("z", self.z, self.graph.weights.shape)
        if self.embedding is not None:
            check_array_read("vectors", self.embedding.vectors, (self.graph.n_nodes, -1))

    @property
    def points(self) -> Data:
        """The prepared data."""
        return self.index.points

    def link(self, rows: Any, k: int) -> sp.csr_matrix:
        """Weights between new points and the nodes (m x N): each has its k nearest points of the fit.

        A link has the weight that an edge of its length has: s / z with the median s of w z over the edges, and z not
        below the floor. A new point that is equal to one of the fit has the edges of that one.
        """
        graph, near = self.graph, self.index.find(rows, k)
        m, k = near.indices.shape
        new = np.flatnonzero(~near.is_old)
        weights = self.weigh.beside(graph.weights, self.z, near.z[new])
        entries = weights.ravel(), (np.repeat(new, k), near.indices[new].ravel())
        A = sp.coo_array(entries, shape=(m, graph.n_nodes)).tocsr()
        if near.is_old.any():
            old = np.flatnonzero(near.is_old)
            chosen = sp.coo_array((np.ones(len(old)), (old, near.indices[old, 0])), shape=(m, graph.n_nodes))
            A = A + chosen.tocsr() @ graph.adjacency
        A.sort_indices()
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)  # as scikit-learn requires
        return sp.csr_matrix(A)  # the older type, which more tools know

    def weigh_links(self, z: Floats) -> Floats:
        """The weights that edges of these lengths z_data have."""
        scale = float(np.median(self.graph.weights * self.z)) if self.graph.n_edges else 1.0
        return scale / self.weigh.raise_to_floor(z)

    def warn_if_unsettled(self) -> None:
        """Warn at the user's line if `max_iter` ended the rounds before the graph was stable."""
        if not self.out_of_rounds:
            return
        settings = self.settings
        if self.optimality is not None and self.optimality.obstacle:
            message = (
                f"GRASPEL did not reach the optimum: {self.optimality.obstacle}. The bound of the gap is "
                f"{self.optimality.gap:.2g} per node. Take a larger tol, or weights='refined'."
            )
        elif self.optimality is not None:
            message = (
                f"GRASPEL did not reach the optimum in max_iter={settings.max_iter} rounds: the bound of the gap is "
                f"{self.optimality.gap:.2g} per node. Allow more rounds or a larger tol."
            )
        else:
            message = (
                f"GRASPEL did not settle in max_iter={settings.max_iter} rounds: in the last one the largest "
                f"distortion was {self.history[-1].max_eta:.3g}; the rule {settings.stability!r} stops at "
                f"{self.tolerance:.3g}. Allow more rounds, more edges in each (edge_ratio), or a larger tol."
            )
        warnings.warn(message, ConvergenceWarning, stacklevel=_stacklevel_of_user())


def _stacklevel_of_user() -> int:
    """The `stacklevel` at which the caller of this function warns about the first line outside graspel and sklearn."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("graspel", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level
