"""Prints pip constraints that hold each runtime dependency at the lowest version that pyproject.toml admits."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

LOWER_BOUND = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*(?P<version>[0-9][^,;\s]*)")


def lowest(pyproject: str) -> list[str]:
    """One `NAME==VERSION` a dependency. Raises SystemExit where one has no lower bound to test."""
    found: list[str] = []
    for dependency in tomllib.loads(pyproject)["project"]["dependencies"]:
        bound = LOWER_BOUND.match(dependency)
        if bound is None:
            sys.exit(f"pyproject.toml: {dependency!r} has no lower bound")
        found.append(f"{bound['name']}=={bound['version']}")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest(Path(sys.argv[1]).read_text("utf-8"))) + "\n")
