"""The weighted, undirected graph with the origin of every edge, and a grid to try things on."""

from graspel.graph.graph import Graph
from graspel.graph.grid import grid_graph
from graspel.graph.provenance import Origin

__all__ = ["Graph", "Origin", "grid_graph"]
