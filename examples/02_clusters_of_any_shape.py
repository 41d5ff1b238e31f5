"""
Clusters of any shape
=====================

k-means finds round groups. Clusters on a learned graph follow the data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons

from graspel import GraspelClustering
from graspel.metrics import clustering_accuracy

rings, ring_of = make_circles(600, factor=0.45, noise=0.05, random_state=0)
moons, moon_of = make_moons(600, noise=0.06, random_state=0)
spiral = np.random.default_rng(0)
t, arm = 3 * np.sqrt(spiral.random(600)) + 0.5, np.arange(600) % 3
angle = t * 1.4 + arm * 2 * np.pi / 3
arms = np.column_stack([t * np.cos(angle), t * np.sin(angle)]) + 0.06 * spiral.standard_normal((600, 2))

figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for column, (X, truth) in enumerate([(rings, ring_of), (moons, moon_of), (arms, arm)]):
    k = len(set(truth))
    methods = {"k-means": KMeans(k, n_init=10, random_state=0), "graspel": GraspelClustering(k, random_state=0)}
    for row, (name, method) in enumerate(methods.items()):
        labels = method.fit_predict(X)
        axes[row, column].scatter(*X.T, c=labels, s=6, cmap="viridis")
        axes[row, column].set(xticks=[], yticks=[], title=f"{name}: {clustering_accuracy(truth, labels):.0%} right")
