"""Dimensionality reduction with a learned graph: multilevel t-SNE and the spectral embedding."""

from __future__ import annotations

from graspel.manifold.spectral import GraspelEmbedding
from graspel.manifold.spectral_coordinates import spectral_init
from graspel.manifold.tsne import MultilevelTSNE

__all__ = ["GraspelEmbedding", "MultilevelTSNE", "spectral_init"]
