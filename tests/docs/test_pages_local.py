"""What the pages say runs without Spark does, and prints what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import SERVER_PAGES, blocks, pages, run

WITHOUT_SPARK = [page for page in pages() if page.name not in SERVER_PAGES and any(not block.needs_spark for block in blocks(page))]


@pytest.mark.parametrize("page", WITHOUT_SPARK, ids=lambda page: page.stem)
def test_page_runs_without_spark(page: Path, tmp_path: Path) -> None:
    run(page, tmp_path)
