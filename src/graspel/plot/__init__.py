"""Pictures of a learned graph. matplotlib is imported only when one is drawn."""

from graspel.plot.drawing import spectral_drawing

__all__ = ["spectral_drawing"]
