"""No file grows past what one can hold in mind."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 500


@pytest.mark.parametrize("folder", ["src", "tests", "scripts", "bench"])
def test_no_file_is_longer_than_the_limit(folder: str) -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in (ROOT / folder).rglob("*.py")}
    assert {str(path.relative_to(ROOT)): count for path, count in lengths.items() if count > MOST_LINES} == {}
