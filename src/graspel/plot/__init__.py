"""Pictures of fitted models and learned graphs. matplotlib is imported only when a picture is drawn.

Each function takes a fitted model and optional matplotlib axes; it draws on them, or on a new figure, and returns the
axes. `save` writes them to a file.
"""

from graspel.plot.canvas import save
from graspel.plot.convergence import convergence
from graspel.plot.drawing import drawing, spectral_drawing
from graspel.plot.embedding import embedding
from graspel.plot.layout import spectral_layout
from graspel.plot.recovery import recovery
from graspel.plot.resistance import resistance
from graspel.plot.scaling import scaling
from graspel.plot.spectrum import spectrum

__all__ = [
    "convergence",
    "drawing",
    "embedding",
    "recovery",
    "resistance",
    "save",
    "scaling",
    "spectral_drawing",
    "spectral_layout",
    "spectrum",
]
