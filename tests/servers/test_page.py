"""The page on catalogs runs with a real Hive metastore."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import ROOT, run


def test_the_page_on_catalogs_runs(metastore: str, tmp_path: Path) -> None:
    run(ROOT / "docs" / "catalog-sync.md", tmp_path, addresses={"thrift://127.0.0.1:9083": metastore})
