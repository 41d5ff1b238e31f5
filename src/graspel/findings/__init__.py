"""Findings: what is in the data, as tables.

Every function here is pure: it takes an index, a graph, labels or what another finding has made of them, and returns a
:class:`Table` in which each row carries its evidence. The report, the plots and the command line show these tables.
"""

from graspel.findings.bridges import find_bridges, find_cut_points
from graspel.findings.classes import count_classes, find_mixtures
from graspel.findings.copies import find_copies, find_leaks, find_near_copies
from graspel.findings.doubtful_labels import find_doubtful_labels
from graspel.findings.effects import find_effects
from graspel.findings.groups import find_nearest_groups, find_representatives
from graspel.findings.near_points import NearPoints, near_points, near_points_of_graph
from graspel.findings.outliers import find_outliers
from graspel.findings.resistance import compare_resistance
from graspel.findings.table import Table
from graspel.findings.verdicts import judge
from graspel.findings.words import find_words

__all__ = [
    "NearPoints",
    "Table",
    "compare_resistance",
    "count_classes",
    "find_bridges",
    "find_copies",
    "find_cut_points",
    "find_doubtful_labels",
    "find_effects",
    "find_leaks",
    "find_mixtures",
    "find_near_copies",
    "find_nearest_groups",
    "find_outliers",
    "find_representatives",
    "find_words",
    "judge",
    "near_points",
    "near_points_of_graph",
]
