"""Factors of Laplacians: approximate ones for solvers, exact ones for resistances and determinants."""
