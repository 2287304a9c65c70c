"""The page that names the test of each promise names all promises, and files that are there and hold tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability-tests.md"
_PROMISES = 39


def test_each_promise_has_a_row_with_tests() -> None:
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row[1]) for row in rows] == list(range(1, _PROMISES + 1))
    assert [row[1] for row in rows if "`tests/" not in row[3]] == []


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE.read_text()))))
def test_named_file_holds_tests(name: str) -> None:
    assert re.search(r"^def test_|^    def test_", (ROOT / name).read_text(), re.MULTILINE)
