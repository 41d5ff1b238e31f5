"""
Groups of texts
===============

Texts become rows by their words (TF-IDF), and are compared by the cosine. The matrix stays sparse.
"""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.discovery import all_estimators

from graspel import audit

# The first line of the documentation of each estimator of scikit-learn.
texts = {name: estimator.__doc__.strip().splitlines()[0] for name, estimator in all_estimators()}
X = TfidfVectorizer(stop_words="english").fit_transform(texts.values())
found = audit(X, texts=list(texts.values()), names=list(texts), clusters=8, metric="cosine")

# %%
# What sets the groups apart, in words that are frequent there and rare elsewhere.
for row in found.tables["groups"].rows():
    print(f"{row['size']} texts: {row['set_apart_by']}")

# %%
# Two texts that are joined, and why.
graph = found.model.graph_
print(list(texts.values())[graph.heads[0]], "/", list(texts.values())[graph.tails[0]])
print(graph.why(graph.heads[0], graph.tails[0]))
