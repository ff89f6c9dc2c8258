r"""The lowest versions that pyproject.toml allows, as constraints for pip, for `make test-lowest`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

#: Newer than the lowest matplotlib, which uses names that it deprecates: only a warning, but warnings fail our tests.
TOGETHER = ("pyparsing<3.3",)

ROOT = Path(__file__).parent.parent


def lowest(requirement: str) -> str:
    """The requirement at its lower bound.

    >>> lowest("mpmath>=1.3,<1.4"), lowest("types-PyYAML")
    ('mpmath==1.3', 'types-PyYAML')
    """
    found = re.match(r"([\w-]+)\s*>=\s*([\w.]+)", requirement)
    return f"{found[1]}=={found[2]}" if found else requirement


def requirements() -> list[str]:
    """What the package needs to run, and what its tests need beside the tools."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *extras["lab"], *extras["interop"]]


if __name__ == "__main__":
    sys.stdout.write("\n".join([*map(lowest, requirements()), *TOGETHER]) + "\n")
