"""Pictures of fitted models and learned graphs. matplotlib is imported only when a picture is drawn.

Each function takes a fitted model and optional matplotlib axes; it draws on them, or on a new figure, and returns the
axes. `save` writes them to a file.
"""

from graspel.plot.canvas import save
from graspel.plot.charts import convergence, resistance, spectrum
from graspel.plot.drawing import drawing, recovery
from graspel.plot.layout import spectral_layout
from graspel.plot.scatter import embedding

__all__ = [
    "convergence",
    "drawing",
    "embedding",
    "recovery",
    "resistance",
    "save",
    "spectral_layout",
    "spectrum",
]
