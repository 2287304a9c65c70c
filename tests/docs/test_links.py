"""Links between the repository's pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.docs.test_citations import anchors

_LINK = re.compile(r"\]\(([^)\s]*)#([^)\s]+)\)")
_CODE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_of_a_page_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    relative = [target for target in targets if "://" not in target and not target.startswith("mailto:")]
    assert [target for target in relative if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_headings_lead_to_them(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    links = [(target, anchor) for target, anchor in _LINK.findall(text) if "://" not in target]
    missing = [
        f"{target}#{anchor}" for target, anchor in links if anchor not in anchors((page.parent / target).resolve() if target else page)
    ]
    assert missing == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r"^ *- [^:]+: ([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))
