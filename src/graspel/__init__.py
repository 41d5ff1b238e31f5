"""graspel: ultra-sparse, connected, weighted graphs from data, at scale."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from graspel.cluster import cluster_graph
    from graspel.estimators.classifier import GraspelClassifier
    from graspel.estimators.clustering import GraspelClustering
    from graspel.estimators.embedding import GraspelEmbedding
    from graspel.estimators.field import GraspelField
    from graspel.estimators.imputer import GraspelImputer
    from graspel.estimators.learner import GRASPEL
    from graspel.estimators.neighbors import GraspelNeighbors
    from graspel.estimators.recovery import GraspelRecovery
    from graspel.estimators.regressor import GraspelRegressor
    from graspel.estimators.stability_scores import stability_scores
    from graspel.estimators.tsne import GraspelTSNE
    from graspel.findings.audit import Audit, audit
    from graspel.graph import Graph, Origin
    from graspel.io.encoder import TableEncoder
    from graspel.learning.connect import connect
    from graspel.learning.embed import spectral_init
    from graspel.neighbors.index import NeighborIndex
    from graspel.report import write_report

__all__ = [
    "GRASPEL",
    "Audit",
    "Graph",
    "GraspelClassifier",
    "GraspelClustering",
    "GraspelEmbedding",
    "GraspelField",
    "GraspelImputer",
    "GraspelNeighbors",
    "GraspelRecovery",
    "GraspelRegressor",
    "GraspelTSNE",
    "NeighborIndex",
    "Origin",
    "TableEncoder",
    "__version__",
    "audit",
    "cluster_graph",
    "connect",
    "spectral_init",
    "stability_scores",
    "write_report",
]

_HOME = {
    "Audit": "graspel.findings.audit",
    "GRASPEL": "graspel.estimators.learner",
    "Graph": "graspel.graph",
    "GraspelClassifier": "graspel.estimators.classifier",
    "GraspelClustering": "graspel.estimators.clustering",
    "GraspelEmbedding": "graspel.estimators.embedding",
    "GraspelField": "graspel.estimators.field",
    "GraspelImputer": "graspel.estimators.imputer",
    "GraspelNeighbors": "graspel.estimators.neighbors",
    "GraspelRecovery": "graspel.estimators.recovery",
    "GraspelRegressor": "graspel.estimators.regressor",
    "GraspelTSNE": "graspel.estimators.tsne",
    "NeighborIndex": "graspel.neighbors.index",
    "Origin": "graspel.graph",
    "TableEncoder": "graspel.io.encoder",
    "audit": "graspel.findings.audit",
    "cluster_graph": "graspel.cluster",
    "connect": "graspel.learning.connect",
    "spectral_init": "graspel.learning.embed",
    "stability_scores": "graspel.estimators.stability_scores",
    "write_report": "graspel.report",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import graspel`` and the command line start fast."""
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name == "__version__":
        from importlib.metadata import version  # takes longer to load than the rest of this file

        return version("graspel")
    raise AttributeError(f"module 'graspel' has no attribute {name!r}; it has {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
