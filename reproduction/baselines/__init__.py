"""The methods of the paper and newer peers, all with one interface: learn(X, random_state=None) -> Graph."""

from __future__ import annotations

from typing import Any

from reproduction.baselines.gl_sigrep import GLSigRep
from reproduction.baselines.graphical_lasso import GraphicalLasso
from reproduction.baselines.knn import KNN, ConsensusKNN
from reproduction.baselines.likelihood import GGL, GLSC, NGL, GLLogDet
from reproduction.baselines.log_degree import LSGL, LogDegree

# Graphs from points, the rows of X, on neighbor lists.
CONSTRUCTION: dict[str, type[Any]] = {"knn": KNN, "cons-knn": ConsensusKNN, "lsgl": LSGL}

# Graphs from signals: the rows of X are nodes, and all pairs of nodes are candidates.
RECOVERY: dict[str, type[Any]] = {
    "gl-sigrep": GLSigRep,
    "gl-logdet": GLLogDet,
    "glsc": GLSC,
    "ggl": GGL,
    "log-degree": LogDegree,
    "ngl": NGL,
    "graphical-lasso": GraphicalLasso,
}

__all__ = [
    "CONSTRUCTION",
    "GGL",
    "GLSC",
    "KNN",
    "LSGL",
    "NGL",
    "RECOVERY",
    "ConsensusKNN",
    "GLLogDet",
    "GLSigRep",
    "GraphicalLasso",
    "LogDegree",
]
