"""A figure that notebooks show on their own, as do its axes: it is made without pyplot, which would do that."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A matplotlib figure that IPython shows as a picture."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=100, bbox_inches="tight")
        return picture.getvalue()

    def add_subplot(self, *args: Any, **options: Any) -> Any:
        """Add axes that are shown as this figure."""
        return self._show(super().add_subplot(*args, **options))

    def add_axes(self, *args: Any, **options: Any) -> Any:
        """Add axes that are shown as this figure."""
        return self._show(super().add_axes(*args, **options))

    def _show(self, ax: Any) -> Any:
        ax._repr_png_ = self._repr_png_
        return ax
