"""The page on catalogs runs with a real Hive metastore, the page on object stores with a server of each store."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import ROOT, run


def test_the_page_on_catalogs_runs(metastore: str, tmp_path: Path) -> None:
    run(ROOT / "docs" / "catalog-sync.md", tmp_path, addresses={"thrift://127.0.0.1:9083": metastore})


def test_the_page_on_object_stores_runs(
    bucket: dict[str, str], gcs_options: dict[str, str], azure_options: dict[str, str], tmp_path: Path
) -> None:
    stated = {
        '{"key": "<access key>", "secret": "<secret>", "region": "eu-north-1"}': str(bucket),
        '{"token": "/etc/keys/service-account.json"}': str(gcs_options),
        '{"account_name": "account", "account_key": "<key>"}': str(azure_options),
        "container@account.": f"bucket@{azure_options['account_name']}.",
    }
    page = ROOT / "docs" / "object-stores.md"
    assert all(one in page.read_text("utf-8") for one in stated)
    run(page, tmp_path, addresses=stated)
