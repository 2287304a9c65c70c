"""Every document that the code, the tests or another document cites is in the repository, heading and all.

Citations look like `docs/format/log-files.md#header-map, #delete-block`: the second anchor is of the same page. A line may break after the
comma.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

CITED = re.compile(r"(docs/(?:(?:design|format)/[\w.-]*\w|[\w./-]*?\.md))((?:(?:,|\s+and)?\s*#[a-z0-9][\w-]*)*)")
LINKED = re.compile(r"\]\(([\w./-]*)#([\w-]+)\)")
DOCUMENT = re.compile(r"(?<![\w/.*-])[\w./-]*[\w-]\.md\b")
NOT_HERE = re.compile(r"format\s+notes|reliability\s+notes|features\.md|house(?:-2)?\.md|observed-1\.2\.0")


@cache
def strings() -> dict[Path, str]:
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for folder in ("src", "tests", "scripts", "bench"):
        files += (ROOT / folder).rglob("*.py")
    return {file: file.read_text(encoding="utf-8") for file in sorted(files)}


def slug(heading: str) -> str:
    """The anchor of a heading, as MkDocs makes it."""
    plain = re.sub(r"[^\w\s-]", "", heading, flags=re.ASCII).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)


def slugs(text: str) -> list[str]:
    outside_code = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [slug(heading) for heading in re.findall(r"^#+ +(.+)$", outside_code, flags=re.MULTILINE)]


@cache
def anchors(page: Path) -> list[str]:
    return slugs(page.read_text(encoding="utf-8"))


def faults_of(file: Path, text: str) -> Iterator[str]:
    """What a file cites that is not there."""
    for page, cited in CITED.findall(text):
        if not (ROOT / page).is_file():
            yield f"{file}: {page}"
        else:
            yield from (f"{file}: {page}#{anchor}" for anchor in re.findall(r"#([\w-]+)", cited) if anchor not in anchors(ROOT / page))
    if file.suffix == ".md":
        for page, anchor in LINKED.findall(text):
            target = (file.parent / page).resolve() if page else file
            if not target.is_file() or anchor not in anchors(target):
                yield f"{file}: {page}#{anchor}"


def test_every_cited_page_and_heading_exists() -> None:
    assert [fault for file, text in strings().items() if file != Path(__file__) for fault in faults_of(file, text)] == []


def test_every_document_that_is_named_is_in_the_repository() -> None:
    names = {page.name for page in strings() if page.suffix == ".md"}
    cited = {(file, name) for file, text in strings().items() if file != Path(__file__) for name in DOCUMENT.findall(text)}
    assert sorted(f"{file}: {name}" for file, name in cited if Path(name).name not in names) == []


def test_no_citation_of_sheets_outside_the_repository_is_left() -> None:
    assert [f"{file}: {match}" for file, text in strings().items() for match in NOT_HERE.findall(text)] == []


def test_a_design_note_has_a_number_of_its_own_and_says_it_in_its_heading() -> None:
    notes = sorted((ROOT / "docs/design").glob("*.md"))
    assert [number for number, count in Counter(note.name[:4] for note in notes).items() if count > 1] == []
    assert [note.name for note in notes if not note.read_text(encoding="utf-8").startswith(f"# {note.name[:4]}. ")] == []


def test_headings_of_the_format_pages_are_unique() -> None:
    repeated = {page.name: [a for a, n in Counter(anchors(page)).items() if n > 1] for page in (ROOT / "docs/format").glob("*.md")}
    assert {page: headings for page, headings in repeated.items() if headings} == {}


@pytest.mark.parametrize(
    "text",
    [
        "Rules: docs/format/nowhere.md.",
        "Rules: docs/design/0074.",
        "Rules: docs/format/log-files.md#nowhere.",
        "Rules: docs/format/log-files.md#header-map,\n#nowhere.",
        "Rules: docs/format/log-files.md#header-map and #nowhere.",
    ],
)
def test_a_citation_that_leads_nowhere_is_found(text: str) -> None:
    assert len(list(faults_of(Path("module.py"), text))) == 1


def test_anchors_of_headings() -> None:
    assert slugs("# Log files\n```\n# no heading\n```\n## Deletes, by `int32` (1.2.0)\n") == ["log-files", "deletes-by-int32-120"]
