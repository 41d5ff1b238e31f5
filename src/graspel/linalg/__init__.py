"""Linear algebra with graph Laplacians in nearly linear time, for any undirected weighted graph.

>>> from graspel.linalg import coarsen, effective_resistance, smallest_eigenpairs, sparsify, LaplacianSolver
"""

from graspel.linalg.coarsen import Coarsening, coarsen
from graspel.linalg.eigen import smallest_eigenpairs
from graspel.linalg.eigensolver import Eigenpairs
from graspel.linalg.inverse import inverse_diagonal
from graspel.linalg.logdet import logdet
from graspel.linalg.resistance import Resistance, effective_resistance, resistance_between
from graspel.linalg.solve import LaplacianSolver
from graspel.linalg.sparsify import Sparsifier, sparsify

__all__ = [
    "Coarsening",
    "Eigenpairs",
    "LaplacianSolver",
    "Resistance",
    "Sparsifier",
    "coarsen",
    "effective_resistance",
    "inverse_diagonal",
    "logdet",
    "resistance_between",
    "smallest_eigenpairs",
    "sparsify",
]
