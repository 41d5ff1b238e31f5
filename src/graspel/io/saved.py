"""The methods `save` and `load` of all estimators."""

from __future__ import annotations

import os
from typing import Any, Self

from graspel.io.models import load_model, save_model


class SavedModel:
    """An estimator that can be written to a file and read back, without pickle."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, fitted or not, to an .npz file, completely or not at all.

        The file holds the points too, since new points are compared with them. No pickle is used, so that a file from
        others can be read without running code of theirs.
        """
        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` has written."""
        model: Any = load_model(path)
        if not isinstance(model, cls):
            held = type(model).__name__
            raise ValueError(f"{path} holds a {held}, not a {cls.__name__}: call {held}.load.")
        return model
