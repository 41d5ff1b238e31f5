"""Classification from a few labels: the classes of all points of a learned graph, and of new ones."""

from __future__ import annotations

from graspel.semisupervised.classifier import GraspelClassifier
from graspel.semisupervised.harmonic import harmonic_function

__all__ = ["GraspelClassifier", "harmonic_function"]
