"""
New points
==========

A fitted model is kept in a file, and says the group, the class or the place of points that it has not seen.
"""

import tempfile
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from graspel import GraspelClustering, GraspelTSNE, plot

X, y = load_digits(return_X_y=True)
old, new = X[:1400], X[1400:]
model = GraspelClustering(10, random_state=0).fit(old)
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder, "digits.npz"))  # without pickle
    again = GraspelClustering.load(Path(folder, "digits.npz"))
print(f"adjusted Rand index of the new points: {adjusted_rand_score(y[1400:], again.predict(new)):.2f}")

# %%
# On the command line: ``graspel cluster old.csv -o clusters.csv --save-model model.npz``, and then
# ``graspel predict model.npz new.csv -o new-clusters.csv``.
#
# A map places new points among those of its fit, which do not move.
picture = GraspelTSNE(random_state=0).fit(old)
axes = plot.embedding(picture.transform(new), y[1400:], title="397 new digits on the map of 1,400")
