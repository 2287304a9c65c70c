"""What the examples print."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi.examples.console import tree


def test_data_files_are_listed_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (
        ".hoodie/hoodie.properties",
        ".hoodie/timeline/1.commit",
        "oslo/.hoodie_partition_metadata",
        "oslo/a.parquet",
        "b.parquet",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    tree(tmp_path, at_most=4)
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]]
    assert listed == ["b.parquet", "oslo/a.parquet", "oslo/.hoodie_partition_metadata", ".hoodie/hoodie.properties", "..."]
