"""Change data that one of the two captured and the other reads, or continues with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.change_data_recipes import changes
from tests.interop.reference import ReferenceHudi

SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "ts": pa.int64(), "note": pa.string()})


def row(number: int, ts: int, note: str) -> dict[str, Any]:
    return {"id": f"e{number}", "city": "lima" if number % 2 else "oslo", "ts": ts, "note": note}


def change_texts(rows: pa.Table) -> list[str]:
    """The changes as sortable texts, without the meta columns that Apache Hudi leaves in some images."""
    return sorted(f"{one['ts_ms']} {one['op']} {image(one['before'])} {image(one['after'])}" for one in rows.to_pylist())


def image(text: str | None) -> Any:
    parsed = None if text is None else json.loads(text)
    return None if parsed is None else {name: value for name, value in parsed.items() if not name.startswith("_hoodie_")}


@pytest.mark.parametrize(
    ("kind", "mode", "more"),
    [
        ("COPY_ON_WRITE", "DATA_BEFORE", {}),
        ("MERGE_ON_READ", "OP_KEY_ONLY", {}),
        ("MERGE_ON_READ", "DATA_BEFORE_AFTER", {}),
        ("COPY_ON_WRITE", "DATA_BEFORE", {"hoodie.populate.meta.fields": "false"}),
        ("MERGE_ON_READ", "DATA_BEFORE_AFTER", {"hoodie.populate.meta.fields": "false"}),
    ],
)
def test_apache_hudi_reads_what_we_capture_and_continues(
    kind: str, mode: str, more: dict[str, str], reference: ReferenceHudi, tmp_path: Path
) -> None:
    capture = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode, **more}
    path = tmp_path / "t"
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["city"], order_by=["ts"], table_type=kind, options=capture)
    table.upsert([row(number, 1, "a") for number in range(4)])
    table.upsert([row(0, 2, "b"), row(4, 2, "b"), row(1, 0, "late")])
    table.delete([{"id": "e3", "city": "lima"}])
    table.upsert([row(2, 3, "c")])
    if kind == "MERGE_ON_READ":
        table.services.compact()
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.table.type": kind,
        **({**more, "hoodie.index.type": "SIMPLE"} if more else {}),
    }
    reference.write(path, pa.Table.from_pylist([row(0, 4, "d"), row(5, 4, "d")], SCHEMA), "append", options)
    table.overwrite([row(6, 5, "e")], partitions=["oslo"])
    ours = HudiTable.open(path).changes(format="cdc")
    assert ours.num_rows == 14
    assert change_texts(ours) == change_texts(changes(reference, path))
