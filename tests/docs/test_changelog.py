"""The changelog has its sections by version, and what a release is checked for is noticed."""

from __future__ import annotations

import re
import tomllib

import pytest

from scripts.check_distribution import changelog_faults
from scripts.lowest_versions import requirements
from tests.docs.pages import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = {"Added", "Changed", "Deprecated", "Fixed", "Removed", "Security"}


def test_headings_are_versions_and_kinds_of_changes() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert changelog_faults(TEXT, version) == []
    assert set(re.findall(r"^### (.+)$", TEXT, flags=re.MULTILINE)) <= KINDS


@pytest.mark.parametrize(
    "text",
    [
        "## 0.1.0 - 2026-12-01\n",
        "## Unreleased\n## 0.1.0\n",
        "## Unreleased\n## 0.1.0 - 2026-12-01\n## 0.2.0 - 2026-11-01\n",
        "## Unreleased\n## 0.9.0 - 2026-12-01\n",
    ],
)
def test_a_changelog_that_no_release_can_have_is_noticed(text: str) -> None:
    assert changelog_faults(text, "0.2.0") != []


def test_each_dependency_has_a_lowest_version_to_be_tested() -> None:
    assert [one for one in requirements() if not re.fullmatch(r"[\w-]+==[\d.]+", one)] == []
