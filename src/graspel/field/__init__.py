"""The Gaussian field of a graph: values that were not measured, with their uncertainty.

>>> from graspel.field import Field
"""

from graspel.field.design import Design
from graspel.field.field import Conditioned, Field, LeftOut

__all__ = ["Conditioned", "Design", "Field", "LeftOut"]
