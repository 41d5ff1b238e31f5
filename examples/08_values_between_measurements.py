"""
Values between measurements
===========================

A hundred measurements of a surface, at random places. The field of the learned graph says what to expect at all other
places, and how sure that is.
"""

import matplotlib.pyplot as plt
import numpy as np

from graspel import GraspelField

rng = np.random.default_rng(0)
places = rng.uniform(size=(2500, 2))
height = np.sin(5 * places[:, 0]) * np.cos(4 * places[:, 1])
measured = rng.permutation(2500)[:100]

field = GraspelField(random_state=0).fit(places)
found = field.condition(measured, height[measured] + 0.05 * rng.standard_normal(100), noise=0.05)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for side, values, title in ((left, found.mean, "mean"), (right, found.deviation, "standard deviation")):
    shown = side.scatter(*places.T, c=values, s=9, cmap="viridis", linewidths=0)
    side.scatter(*places[measured].T, s=14, facecolors="none", edgecolors="black", linewidths=0.6)
    side.set(title=title, aspect="equal", xticks=[], yticks=[])
    figure.colorbar(shown, ax=side)
axes = right

# %%
# Circles are measurements. Nine of ten values lie within 1.645 standard deviations, if they vary as the field expects.
# This surface is smoother.
print(f"{(np.abs(found.mean - height) < 1.645 * found.deviation).mean():.2f}")

# %%
# Where to measure next, to lower the total variance most.
print(field.next_measurements(3, measured, noise=0.05).nodes)
