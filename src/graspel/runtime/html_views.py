"""HTML views for notebooks: which function shows an object of graspel as a small piece of HTML.

The objects are defined in low rooms, and drawing them needs high ones. So the views are named here, like the public
names in ``graspel/__init__.py``, and imported when a notebook shows an object.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

VIEWS = {  # class of the object: module and function
    "Graph": ("graspel.integrations.notebook", "graph_html"),
    "Certificate": ("graspel.integrations.notebook", "certificate_html"),
}


def html_view(shown: Any) -> str:
    """Return the HTML of an object whose class is in `VIEWS`."""
    module, function = VIEWS[type(shown).__name__]
    html: str = getattr(import_module(module), function)(shown)
    return html
