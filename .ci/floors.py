"""Print the oldest versions that pyproject.toml claims, as constraints for pip: ``numpy>=1.26`` gives ``numpy==1.26``.

Run with the names of the extras that will be installed. A package without a lower bound keeps its newest version.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

# Packages that ours need, held back to the time of the floors, and why.
HELD = {"pyparsing": "3.1"}  # matplotlib of that time calls names that pyparsing has deprecated since

FLOOR = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)$")


def floors(project: dict, extras: list[str]) -> dict[str, str]:
    """The lower bound of every requirement of the project and of these extras, and of the extras that they name."""
    found: dict[str, str] = {}
    requirements = list(project["dependencies"])
    for extra in extras:
        requirements += project["optional-dependencies"][extra]
    for requirement in requirements:
        own = re.match(r"^graspel\[(.+)\]$", requirement)
        if own:
            found |= floors(project, own[1].split(","))
        elif match := FLOOR.match(requirement):
            found[match[1]] = match[2]
    return found


if __name__ == "__main__":
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    for name, version in sorted((HELD | floors(pyproject["project"], sys.argv[1:])).items()):
        print(f"{name}=={version}")
