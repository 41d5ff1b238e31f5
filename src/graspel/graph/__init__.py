"""The weighted, undirected graph with the origin of every edge, and generators of test graphs."""

from graspel.graph.generators import (
    erdos_renyi_graph,
    gaussian_graph,
    grid_graph,
    preferential_attachment_graph,
    stochastic_block_graph,
)
from graspel.graph.graph import Graph
from graspel.graph.provenance import Origin

__all__ = [
    "Graph",
    "Origin",
    "erdos_renyi_graph",
    "gaussian_graph",
    "grid_graph",
    "preferential_attachment_graph",
    "stochastic_block_graph",
]
