"""Looks at what was built for a release: versions agree, and nothing that is needed is missing or too much.

python scripts/check_distribution.py dist
"""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Files besides the modules without which the package does not work.
DATA = ("pyhudi.pth", "pyhudi/py.typed", "pyhudi/spec/config/hudi_keys.tsv")
EXTRAS = {"bench", "cli", "dev", "docs", "object-store", "quickstart", "spark", "test"}


def faults(folder: Path) -> list[str]:
    """What is wrong with the distributions in a folder."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    version = project["version"]
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if [len(wheels), len(sources)] != [1, 1]:
        return [f"{folder} holds {len(wheels)} wheels and {len(sources)} source distributions instead of one each"]
    wheel = zipfile.ZipFile(wheels[0])
    with tarfile.open(sources[0]) as source:
        source_names = {name.partition("/")[2] for name in source.getnames()}
    names = set(wheel.namelist())
    meta = Parser().parsestr(wheel.read(f"pyhudi-{version}.dist-info/METADATA").decode())
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    schemas = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.avsc")}
    return [
        *(f"{name} is missing in the wheel" for name in sorted((modules | schemas | set(DATA)) - names)),
        *(
            f"{name} should not be in the wheel"
            for name in sorted(names)
            if not re.match(r"pyhudi/|pyspark_hudi/|pyhudi\.pth|pyhudi-[^/]*dist-info/", name)
        ),
        *(
            f"{name} is missing in the source distribution"
            for name in ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml")
            if name not in source_names
        ),
        *([] if meta["Version"] == version else [f"the wheel says version {meta['Version']}, pyproject.toml {version}"]),
        *([] if set(meta.get_all("Provides-Extra", [])) == EXTRAS else [f"the extras are {sorted(meta.get_all('Provides-Extra', []))}"]),
        *([] if meta["License-Expression"] == "Apache-2.0" else ["the wheel does not say its licence"]),
        *changelog_faults((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version),
    ]


def changelog_faults(text: str, version: str) -> list[str]:
    """What is wrong with the headings of the changelog: `Unreleased` first, then versions from the newest to the oldest with their days."""
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    released = [re.fullmatch(r"(\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d", heading) for heading in headings[1:]]
    if headings[:1] != ["Unreleased"] or None in released:
        return ["CHANGELOG.md needs `## Unreleased`, then a heading such as `## 0.1.0 - 2026-12-01` for each version"]
    numbers = [tuple(map(int, match[1].split("."))) for match in released if match]
    if numbers != sorted(numbers, reverse=True) or (numbers and numbers[0] > tuple(map(int, version.split(".")))):
        return [f"the versions of CHANGELOG.md are not in order, or newer than {version} in pyproject.toml"]
    return []


if __name__ == "__main__":
    problems = faults(Path(sys.argv[1]))
    print(*problems or ["metadata and contents: as they should be"], sep="\n")
    sys.exit(bool(problems))
