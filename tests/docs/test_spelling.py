"""No page, docstring, comment or message has one of the misspellings that codespell knows."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from tests.docs.pages import ROOT

#: Words that are no misspellings here: short for merge-on-read, names of time zones, and examples of misspelled options and columns.
_RIGHT: Final = ("mor", "ect", "ist", "nmae", "opration")
_READ: Final = ("docs", "src", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "mkdocs.yml")


def misspellings(*paths: str) -> list[str]:
    """Return a line for each misspelled word in some files and folders."""
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", ",".join(_RIGHT), *paths]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()


def test_pages_and_sources_have_no_misspelled_words() -> None:
    assert misspellings(*_READ) == []


def test_a_misspelled_word_is_found(tmp_path) -> None:
    page = tmp_path / "misspelled.txt"
    page.write_text("The tabel is writen.\n", encoding="utf-8")
    assert len(misspellings(str(page))) == 2
