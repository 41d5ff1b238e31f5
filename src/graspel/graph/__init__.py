"""The weighted, undirected graph with the origin of every edge, and a grid to try things on."""

from graspel.graph.conversions import relative_weights
from graspel.graph.edges import Origin
from graspel.graph.graph import Graph, grid_graph

__all__ = ["Graph", "Origin", "grid_graph", "relative_weights"]
