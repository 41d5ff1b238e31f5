"""Laplacian linear algebra in nearly linear time, usable on any undirected weighted graph."""

from graspel.linalg.eigen import Eigenpairs, smallest_eigenpairs
from graspel.linalg.logdet import logdet
from graspel.linalg.resistance import resistance_between
from graspel.linalg.solve import LaplacianSolver

__all__ = ["Eigenpairs", "LaplacianSolver", "logdet", "resistance_between", "smallest_eigenpairs"]
