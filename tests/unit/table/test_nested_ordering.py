"""Ordering fields inside structs: the greater value wins wherever rows are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import KeyFieldError, SchemaError

META = pa.struct([("source", pa.string()), ("at", pa.struct([("ts", pa.int64()), ("zone", pa.string())]))])
SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("v", pa.string()), ("meta", META), ("_hoodie_is_deleted", pa.bool_())])
BOTH = ["COPY_ON_WRITE", "MERGE_ON_READ"]


def rows(*values: tuple[int, str, int | None], city: str = "rome", deleted: bool = False) -> pa.Table:
    """Rows by id, value and time; without a time they have no struct either."""
    metas = [None if ts is None else {"source": "s", "at": {"ts": ts, "zone": "utc"}} for _, _, ts in values]
    return pa.table(
        {
            "id": [key for key, _, _ in values],
            "city": [city] * len(values),
            "v": [value for _, value, _ in values],
            "meta": pa.array(metas, META),
            "_hoodie_is_deleted": [deleted] * len(values),
        },
        schema=SCHEMA,
    )


def create(path: Path, table_type: str, *order_by: str, **options: Any) -> HudiTable:
    return HudiTable.create(
        str(path), SCHEMA, name="t", keys=["id"], partition_by=["city"], order_by=list(order_by), table_type=table_type, **options
    )


def values(table: HudiTable) -> dict[int, str]:
    read = HudiTable.open(table.storage.uri).to_arrow(columns=["id", "v"])
    return dict(sorted(zip(read["id"].to_pylist(), read["v"].to_pylist(), strict=True)))


@pytest.mark.parametrize("table_type", BOTH)
def test_the_greater_value_in_a_struct_wins(table_type: str, tmp_path: Path) -> None:
    table = create(tmp_path / "t", table_type, "meta.at.ts")
    table.upsert(rows((1, "a", 5), (2, "b", 5), (3, "c", 5), (4, "kept", 9), (4, "late", 3), (5, "none", None)))
    assert values(table) == {1: "a", 2: "b", 3: "c", 4: "kept", 5: "none"}
    table.upsert(rows((1, "late", 4), (2, "new", 6), (3, "no struct", None), (5, "some", -7)))
    assert values(table) == {1: "a", 2: "new", 3: "c", 4: "kept", 5: "some"}
    table.upsert(rows((1, "", 4), (2, "", 6), deleted=True))
    assert values(table) == {1: "a", 3: "c", 4: "kept", 5: "some"}
    if table_type == "MERGE_ON_READ":
        table.services.compact()
        assert values(table) == {1: "a", 3: "c", 4: "kept", 5: "some"}


def test_fields_of_one_struct_and_a_column_order_together(tmp_path: Path) -> None:
    table = create(tmp_path / "t", "MERGE_ON_READ", "meta.at.ts", "v", "meta.source")
    table.upsert(rows((1, "b", 5), (2, "b", 5), (3, "x", 5)))
    table.upsert(rows((1, "a", 5), (2, "c", 5)))
    table.upsert(rows((3, "x", 5), deleted=True))
    assert values(table) == {1: "b", 2: "c"}


def test_a_late_row_does_not_move_its_record(tmp_path: Path) -> None:
    options = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"}
    table = create(tmp_path / "t", "COPY_ON_WRITE", "meta.at.ts")
    table.upsert(rows((1, "a", 5), (2, "b", 5)))
    table.upsert(rows((1, "late", 4), (2, "moved", 6), city="oslo"), options=options)
    assert values(table) == {1: "a", 2: "moved"}


def test_log_compaction_compares_inside_structs(tmp_path: Path) -> None:
    table = create(tmp_path / "t", "MERGE_ON_READ", "meta.at.ts")
    table.upsert(rows((1, "a", 5), (2, "b", 5), (3, "c", 5)))
    table.upsert(rows((1, "new", 8), (2, "new", 8)))
    table.upsert(rows((1, "late", 7), (2, "", 9), deleted=True))
    before = values(table)
    table.services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "2"})
    assert values(table) == before == {1: "new", 3: "c"}


@pytest.mark.parametrize(
    ("field", "part"), [("meta.no", "'meta.no' is not in column 'meta'"), ("v.x", "'v.x' is not in column 'v'"), ("meta.at", "no order")]
)
def test_fields_that_cannot_order_are_refused(field: str, part: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=part):
        create(tmp_path / "t", "COPY_ON_WRITE", field)


def test_the_data_must_bring_the_struct(tmp_path: Path) -> None:
    table = create(tmp_path / "t", "MERGE_ON_READ", "meta.at.ts")
    with pytest.raises(KeyFieldError, match=r"meta\.at\.ts"):
        table.upsert(rows((1, "a", 5)).drop_columns(["meta"]))
