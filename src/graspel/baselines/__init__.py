"""The methods that the paper compares with, behind one interface."""

from __future__ import annotations

from typing import Any

from graspel.baselines.consensus_knn import ConsensusKNN
from graspel.baselines.gl_logdet import GLLogDet
from graspel.baselines.gl_sigrep import GLSigRep
from graspel.baselines.glsc import GLSC
from graspel.baselines.graphical_lasso import GraphicalLasso
from graspel.baselines.knn import KNN
from graspel.baselines.lsgl import LSGL

# Graphs from points: each has learn(X, random_state=None) -> Graph.
CONSTRUCTION: dict[str, type[Any]] = {"knn": KNN, "cons-knn": ConsensusKNN, "lsgl": LSGL}

# Graphs from signals on their nodes, the rows of X, by all pairs of nodes.
RECOVERY: dict[str, type[Any]] = {
    "gl-sigrep": GLSigRep,
    "gl-logdet": GLLogDet,
    "glsc": GLSC,
    "graphical-lasso": GraphicalLasso,
}

__all__ = [
    "CONSTRUCTION",
    "GLSC",
    "KNN",
    "LSGL",
    "RECOVERY",
    "ConsensusKNN",
    "GLLogDet",
    "GLSigRep",
    "GraphicalLasso",
]
