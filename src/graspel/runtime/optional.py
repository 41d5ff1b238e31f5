"""Late imports: optional packages, for which one error says what to install, and views of objects in notebooks.

Graphs and certificates are defined in low rooms, and drawing them needs high ones. So their views are named here, like
the public names in ``graspel/__init__.py``, and imported when a notebook shows an object.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def import_optional(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package; if it is missing, the error names the extra that installs it.

    Parameters
    ----------
    module : str
        The module, for example ``"pyarrow.parquet"``.
    extra : str
        The extra of graspel that installs the package.
    purpose : str
        What the package is needed for, as the subject of the message.

    Examples
    --------
    >>> import_optional("json", "none", "This").dumps([1])
    '[1]'
    >>> import_optional("no_such_package.part", "tables", "Reading .parquet")
    Traceback (most recent call last):
    ...
    ImportError: Reading .parquet needs no_such_package. Install it: pip install "graspel[tables]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:  # another ImportError, of a package that is there, says itself what is wrong
        raise _missing_package(module, extra, purpose) from error


def require_optional(module: str, extra: str, purpose: str) -> None:
    """Raise the error of `import_optional` before a long run, without importing the package."""
    if find_spec(module.partition(".")[0]) is None:
        raise _missing_package(module, extra, purpose)


def _missing_package(module: str, extra: str, purpose: str) -> ImportError:
    package = module.partition(".")[0]
    return ImportError(f'{purpose} needs {package}. Install it: pip install "graspel[{extra}]"')


VIEWS = {  # class of the object: module and function
    "Graph": ("graspel.integrations.notebook", "graph_html"),
    "Certificate": ("graspel.integrations.notebook", "certificate_html"),
}


def html_view(shown: Any) -> str:
    """Return the HTML of an object whose class is in `VIEWS`."""
    module, function = VIEWS[type(shown).__name__]
    html: str = getattr(import_module(module), function)(shown)
    return html
