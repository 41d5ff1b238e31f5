"""
Every point in the plane
========================

t-SNE of all points, whose neighbors on the learned graph attract them too.
"""

from sklearn.datasets import load_digits

from graspel import GraspelEmbedding, GraspelTSNE, plot

X, y = load_digits(return_X_y=True)
picture = GraspelTSNE(random_state=0).fit_transform(X)
axes = plot.embedding(picture, y)

# %%
# The spectral embedding takes the eigenvectors of the same graph. It keeps the global order and folds small groups.
axes = plot.embedding(GraspelEmbedding(2, random_state=0).fit_transform(X), y)
