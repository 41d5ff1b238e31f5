"""
Data that grow
==============

``partial_fit`` adds points to a graph, ``forget`` removes them. The graph stays connected, and is not learned anew.
"""

from sklearn.datasets import load_digits

from graspel import GRASPEL, cluster_graph
from graspel.metrics import clustering_accuracy

X, y = load_digits(return_X_y=True)
model = GRASPEL(random_state=0)
for start in range(0, 1600, 400):
    model.partial_fit(X[start : start + 400])
    labels = cluster_graph(model.graph_, 10).labels
    accuracy = clustering_accuracy(y[: start + 400], labels)
    print(f"{model.graph_.n_nodes} points, {model.graph_.n_edges} edges, accuracy of the clusters {accuracy:.2f}")

# %%
# An edge keeps the number of the batch in which it came.
graph = model.graph_
newest = graph.round.argmax()
print(graph.why(graph.heads[newest], graph.tails[newest]))

# %%
# Points that are out of date are removed; the rest stays connected.
model.forget(range(400))
print(model.graph_.n_nodes, model.graph_.is_connected)
