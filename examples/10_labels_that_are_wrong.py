"""
Labels that are wrong
=====================

Exchange the labels of twenty digits at random, and look for them: near points along the graph vote on each label.
"""

import numpy as np
from sklearn.datasets import load_digits

from graspel import audit

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.choice(len(y), 20, replace=False)
given = y.copy()
given[wrong] = (y[wrong] + rng.integers(1, 10, 20)) % 10
found = audit(X, given, clusters=10)
print(found.sentences[1])

# %%
# The list has the most doubtful first, each with the label that the points near it suggest.
doubtful = found.tables["labels"]
first = doubtful["point"][:25]
print(f"{np.isin(wrong, first).sum()} of the 20 are among the first 25")
for row in doubtful.head(3).rows():
    print(f"image {row['point']} is labeled {row['label']}, the points near it say {row['suggested']}")
