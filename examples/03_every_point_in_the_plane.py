"""
Every point in the plane
========================

t-SNE on two levels: the learned graph is coarsened, the groups are placed first, and then all points from there.
"""

from sklearn.datasets import load_digits

from graspel import GraspelEmbedding, GraspelTSNE, plot

X, y = load_digits(return_X_y=True)
picture = GraspelTSNE(random_state=0).fit_transform(X)
axes = plot.embedding(picture, y)

# %%
# The spectral embedding takes the eigenvectors of the same graph. It keeps the order at large and folds small groups.
axes = plot.embedding(GraspelEmbedding(2, random_state=0).fit_transform(X), y)
