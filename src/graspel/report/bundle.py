"""The script of the page: the modules of the folder `page` as one script, since a single file cannot import.

Every module is a plain ES module that tests import as it is. Here the modules follow each other inside one function, in
an order in which each comes after those it imports, and without their `import` lines and `export` words. So no two
modules may use one name at their top (a test checks it).
"""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["MODULES", "bundle_scripts", "imported_modules", "read_file"]

MODULES = (
    "unpack",
    "words",
    "camera",
    "labels",
    "network",
    "theme",
    "dom",
    "density",
    "webgl",
    "raster",
    "scatter",
    "points",
    "thumbnails",
    "charts",
    "panel",
    "groups",
    "sections",
    "made",
    "main",
)
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)


def read_file(name: str) -> str:
    """A file of the page."""
    return files("graspel.report.page").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def imported_modules(source: str) -> list[str]:
    r"""The modules that a module imports.

    >>> imported_modules('import { make } from "./dom.js";\n')
    ['dom']
    """
    return IMPORT.findall(source)


def bundle_scripts() -> str:
    """All modules as one script, exactly as the browser will read it, so that its checksum is right."""
    sources = (IMPORT.sub("", read_file(f"{name}.js")) for name in MODULES)
    plain = (re.sub(r"^export ", "", source, flags=re.MULTILINE) for source in sources)
    script = "\n".join(["(() => {", '"use strict";', *plain, "start();", "})();"])
    return "\n" + script.replace("</script", "<\\/script").strip() + "\n"
