"""Pictures of a learned graph and of embeddings. matplotlib is imported only when one is drawn."""

from graspel.plot.drawing import spectral_drawing
from graspel.plot.embedding import embedding_plot

__all__ = ["embedding_plot", "spectral_drawing"]
