"""
What is in a table?
===================

``audit`` finds groups, and says what sets each apart; it finds odd rows, and says which of their values are odd.
"""

from sklearn.datasets import load_wine

from graspel import audit, plot

wine = load_wine(as_frame=True).data
found = audit((wine - wine.mean()) / wine.std(), values=wine)
print(found)

# %%
# Each finding is a table. Columns are named in their own units, though distances are measured in scaled ones.
for group, words in zip(found.groups["group"], found.groups["set_apart_by"], strict=True):
    print(f"group {group}: {words}")

# %%
# The wines on the graph, colored by group. ``graspel.write_report(found.model, "report.html")`` writes all of it to a
# page for the browser.
axes = plot.drawing(found.model, found.clusterer.labels_)
