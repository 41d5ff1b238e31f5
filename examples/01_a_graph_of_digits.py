"""
A graph of handwritten digits
=============================

Learn a graph of 1,797 pictures of digits, draw it, and ask why an edge is there.
"""

from sklearn.datasets import load_digits

from graspel import GRASPEL, plot

X, y = load_digits(return_X_y=True)
model = GRASPEL(random_state=0).fit(X)
print(model.graph_)

# %%
# The learner does not see the labels. They only color the points of the drawing, whose coordinates are the first
# eigenvectors of the graph.
axes = plot.drawing(model, y)

# %%
# Every edge records why it is there.
graph = model.graph_
print(graph.why(graph.heads[0], graph.tails[0]))
last = graph.round.argmax()
print(graph.why(graph.heads[last], graph.tails[last]))

# %%
# The eigenvalues show how many groups there are: the gap is where the few edges between groups end.
axes = plot.spectrum(model)
