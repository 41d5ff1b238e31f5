"""
The best of all graphs
======================

The objective of the method has a maximum over all graphs. With ``weights="optimal"`` it is found, and a bound says
how near it is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from graspel import GRASPEL, plot

X, _ = load_digits(return_X_y=True)
model = GRASPEL(weights="optimal", random_state=0).fit(X)
axes = plot.convergence(model, title="The search for the optimum")

# %%
# At the optimum, effective resistance is the squared distance in the data on every edge, and not larger on any other
# pair. Between far points it is much smaller: on a large graph without bottlenecks it depends on degrees only.
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.6), layout="constrained")
plot.resistance(GRASPEL(random_state=0).fit(X), left, title="default")
axes = plot.resistance(model, right, title="optimum")

# %%
# The certificate holds the bound, over all pairs of points.
certificate = model.certificate_
print(f"{model.graph_.density:.2f} edges per node; at most {certificate.optimality_gap:.1e} per node below the maximum")
