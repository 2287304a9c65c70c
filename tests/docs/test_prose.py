"""Documents use the terms of the field, speak of what is, and name files that exist."""

from __future__ import annotations

import re

import pytest

from tests.architecture.test_names import PHRASES
from tests.docs.pages import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Generated from recorded names and from programs, which have tests of their own.
GENERATED = {"options.md", "tutorial.md"}
#: Passages on how pyhudi came to be what it is; they belong into the history of the repository.
PROCESS = {
    r"\buntil session \d+": "say why it is as it is",
    r"\bStatus: built\b": "a note describes what exists",
    r"\bwritten again\b": "rewritten",
}
FILE = re.compile(r"`([\w/]+\.py)(?:[:.][\w.]+)?`")


@pytest.mark.parametrize("phrase", [*PHRASES, *PROCESS])
def test_documents_use_the_terms_of_the_field(phrase: str) -> None:
    banned = re.compile(phrase, re.IGNORECASE)
    hits = [str(page.relative_to(ROOT)) for page in PAGES if page.name not in GENERATED and banned.search(page.read_text(encoding="utf-8"))]
    assert hits == [], f"say: {(PHRASES | PROCESS)[phrase]}"


def test_every_module_that_a_document_names_exists() -> None:
    files = [f"/{path.relative_to(ROOT)}" for folder in ("src", "tests", "scripts", "bench") for path in (ROOT / folder).rglob("*.py")]
    named = {(page.name, name) for page in PAGES for name in FILE.findall(page.read_text(encoding="utf-8"))}
    assert sorted(f"{page}: {name}" for page, name in named if not any(file.endswith(f"/{name}") for file in files)) == []
