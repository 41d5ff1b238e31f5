"""
The graph behind signals
========================

Each row is a sensor and each column a measurement. Neighbors in an unknown network measure similar values. The network
is found from the measurements alone.
"""

from graspel import GraspelRecovery, plot
from graspel.datasets import smooth_signals
from graspel.graph import grid_graph
from graspel.metrics import edge_scores

truth = grid_graph(6, 6)
X = smooth_signals(truth, n_signals=500, noise=0.5, random_state=0)
model = GraspelRecovery().fit(X)
print(f"noise: {model.noise_:.2f}, F-measure of the edges: {edge_scores(truth, model.graph_).f_measure:.2f}")

# %%
# Both graphs on one layout: edges found, missed and added.
axes = plot.recovery(truth, model.graph_)
