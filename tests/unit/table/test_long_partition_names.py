"""Partition values that no file system can hold as the name of a folder."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError, KeyFieldError
from pyhudi.spec.files import partition_path

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


def test_value_longer_than_a_name_of_a_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    with pytest.raises(KeyFieldError, match="more than 255 bytes"):
        table.insert([{"id": 1, "city": "é" * 128}])
    assert len(table.history()) == 0
    table.insert([{"id": 1, "city": "é" * 127}])
    assert table.to_arrow()["city"].to_pylist() == ["é" * 127]


def test_failed_write_to_such_a_folder_is_rolled_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer may have begun one, which fails when it makes the folder."""
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    with monkeypatch.context() as patch:
        patch.setattr(partition_path, "_MAX_SEGMENT_BYTES", 1000)
        with pytest.raises(HudiError, match="File name too long"):
            table.insert([{"id": 1, "city": "x" * 300}])
    table.insert([{"id": 2, "city": "oslo"}])
    assert table.to_arrow()["id"].to_pylist() == [2]
