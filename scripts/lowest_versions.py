"""Prints the lowest versions that pyproject.toml claims for what pyhudi needs, and the versions of the test tools, as requirements for pip.

python scripts/lowest_versions.py
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("hypothesis", "pytest", "pytest-xdist")


def requirements() -> list[str]:
    """One line for each."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        claimed = tomllib.load(file)["project"]["dependencies"]
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), flags=re.MULTILINE))
    return [one.partition(",")[0].replace(">=", "==") for one in claimed] + [f"{name}=={pinned[name]}" for name in TOOLS]


if __name__ == "__main__":
    print("\n".join(requirements()))
