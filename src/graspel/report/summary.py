"""The summary: what is in the data, in a few sentences at the top of the page."""

from __future__ import annotations

import numpy as np

from graspel.report.classes import Comparison
from graspel.report.groups import Group
from graspel.report.material import Material
from graspel.report.odd import OddOnes
from graspel.report.verdicts import Verdict

__all__ = ["summarize"]


def summarize(
    material: Material,
    groups: list[Group],
    comparison: Comparison | None,
    odd: OddOnes,
    verdicts: list[Verdict],
) -> list[str]:
    """The answer to "what is in my data?" in a few sentences."""
    return [_describe_groups(material, groups), *_describe_classes(comparison), _describe_odd(odd), _trust(verdicts)]


def _describe_groups(material: Material, groups: list[Group]) -> str:
    features = material.learner.n_features_in_
    columns = f"{features:,} {'feature' if features == 1 else 'features'}"
    points = f"{material.n_points:,} points with {columns}"
    if len(groups) < 2:
        return f"{points}. They form one group."
    assert material.clusters is not None
    n_groups = len(groups) if not material.clusters.has_others else f"more than {len(groups)}"
    sizes = sorted((group.size for group in groups), reverse=True)
    size = f"{sizes[0]:,} points each" if sizes[0] == sizes[-1] else f"{sizes[-1]:,} to {sizes[0]:,} points"
    return f"{points} fall into {n_groups} groups of {size}."


def _describe_classes(comparison: Comparison | None) -> list[str]:
    if comparison is None:
        return []
    n_suspects = comparison.n_suspicious
    looks = "1 label looks" if n_suspects == 1 else f"{n_suspects:,} labels look"
    checked = f"{looks} wrong and should be checked." if n_suspects else "No label looks wrong."
    return [*comparison.sentences[:1], checked]


def _describe_odd(odd: OddOnes) -> str:
    lies = "1 point lies" if odd.n_striking == 1 else f"{odd.n_striking:,} points lie"
    outliers = f"{lies if odd.n_striking else 'No point lies'} more than twice as far from others as is usual"
    if not odd.n_copies:
        return f"{outliers}; no two points are equal."
    copies = "1 point is a copy" if odd.n_copies == 1 else f"{odd.n_copies:,} points are copies"
    return f"{outliers}; {copies} of another."


def _trust(verdicts: list[Verdict]) -> str:
    good = int(np.sum([verdict.rating == "good" for verdict in verdicts]))
    weak = [verdict.question for verdict in verdicts if verdict.rating != "good"]
    if not weak:
        return f"All {good} checks of the result are good."
    return f"{good} of {len(verdicts)} checks of the result are good; not so good: {' '.join(weak)}"
