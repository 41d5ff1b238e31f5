"""
A sparser graph with the same spectrum
======================================

``sparsify`` keeps the few edges of a graph that matter for its spectrum. Here a grid loses two fifths of its edges.
"""

import matplotlib.pyplot as plt

from graspel.graph import grid_graph
from graspel.linalg import smallest_eigenpairs, sparsify

grid = grid_graph(60, 60)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(smallest_eigenpairs(grid, 20).values, "o-", label=f"whole grid: {grid.density:.2f} edges per node")
for density in (1.5, 1.2, 1.05):
    sparse = sparsify(grid, density=density)
    print(f"density {density}: relative condition number {sparse.condition:.0f}")
    axes.plot(smallest_eigenpairs(sparse.graph, 20).values, ".-", label=f"{density} edges per node")
axes.set(xlabel="number", ylabel="eigenvalue")
legend = axes.legend()
