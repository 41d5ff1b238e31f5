"""graspel: ultra-sparse, connected, weighted graphs from data, at scale."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graspel.cluster import GraspelClustering, cluster_graph
    from graspel.graph import Graph, Origin
    from graspel.graph_neighbors import GraspelNeighbors
    from graspel.learner import GRASPEL
    from graspel.learning.joining import connect
    from graspel.manifold import GraspelEmbedding, MultilevelTSNE, spectral_init
    from graspel.neighbors.index import NeighborIndex
    from graspel.recovery import GraphRecovery
    from graspel.semisupervised import GraspelClassifier
    from graspel.stability import stability_scores

__version__ = version("graspel")
__all__ = [
    "GRASPEL",
    "Graph",
    "GraphRecovery",
    "GraspelClassifier",
    "GraspelClustering",
    "GraspelEmbedding",
    "GraspelNeighbors",
    "MultilevelTSNE",
    "NeighborIndex",
    "Origin",
    "__version__",
    "cluster_graph",
    "connect",
    "spectral_init",
    "stability_scores",
]

_HOME = {
    "GRASPEL": "graspel.learner",
    "Graph": "graspel.graph",
    "GraphRecovery": "graspel.recovery",
    "GraspelClassifier": "graspel.semisupervised",
    "GraspelClustering": "graspel.cluster",
    "GraspelEmbedding": "graspel.manifold",
    "GraspelNeighbors": "graspel.graph_neighbors",
    "MultilevelTSNE": "graspel.manifold",
    "NeighborIndex": "graspel.neighbors.index",
    "Origin": "graspel.graph",
    "cluster_graph": "graspel.cluster",
    "connect": "graspel.learning.joining",
    "spectral_init": "graspel.manifold",
    "stability_scores": "graspel.stability",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import graspel`` and the command line start fast."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'graspel' has no attribute {name!r}; it has {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
