"""The rows of a MERGE on a table with virtual keys: they name their records by old values of key and partition columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pyhudi.errors import ConflictError, KeyFieldError
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spec.actions.commit import Operation
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.write_table import write
from tests.unit.table.tables import SCHEMA, Row, make_table, ride, rows_of

VIRTUAL = {"hoodie.populate.meta.fields": "false"}
LEFT = {"hoodie.compact.inline": "false"}
ROWS = pa.schema(
    [
        ("_pyhudi_old_id", pa.int64()),
        ("_pyhudi_old_city", pa.string()),
        ("_pyhudi_delete", pa.bool_()),
        ("_pyhudi_unchanged", pa.bool_()),
        *SCHEMA,
    ]
)


def change(old: tuple[int, str] | None, new: Row | None = None, *, unchanged: bool = False) -> dict[str, Any]:
    number, city = old or (None, None)
    marks = {"_pyhudi_old_id": number, "_pyhudi_old_city": city, "_pyhudi_delete": new is None, "_pyhudi_unchanged": unchanged}
    return {**marks, **(new or {})}


def merge(table: HudiTable, *changes: dict[str, Any], **more: Any) -> Any:
    return write(table, Operation.UPSERT_PREPPED, pa.Table.from_pylist(list(changes), ROWS), prepped=True, options=LEFT, **more)


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = make_table(partition_by=["city"], order_by=["at"], table_type=request.param, options=VIRTUAL)
    made.upsert([ride(number) for number in range(6)], options=LEFT)
    made.upsert([ride(1, "oslo", 5, 1)], options=LEFT)
    return made


def test_records_are_updated_moved_deleted_and_inserted(table: HudiTable) -> None:
    result = merge(
        table,
        change((0, "oslo"), ride(0), unchanged=True),
        change((1, "oslo"), ride(1, "oslo", 9, 2)),
        change((2, "oslo"), ride(2, "rome", 9, 2)),
        change((3, "oslo")),
        change(None, ride(20, "lima")),
        change(None, ride(4, "oslo", 8, 8)),  # a key that the table holds under another condition
    )
    assert rows_of(table) == [ride(0), ride(1, "oslo", 9, 2), ride(2, "rome", 9, 2), ride(4, "oslo", 8, 8), ride(5), ride(20, "lima")]
    assert (result.inserted, result.updated, result.deleted) == (2, 2, 2)


def test_a_record_that_is_missing_is_a_conflict(table: HudiTable) -> None:
    with pytest.raises(ConflictError, match="'77' in partition 'oslo'"):
        merge(table, change((77, "oslo"), ride(77)))


def test_a_write_in_between_is_a_conflict(table: HudiTable) -> None:
    visibility = open_snapshot(table.storage, SnapshotQuery(), table.config).timeline.visibility
    table.upsert([ride(1, "oslo", 7, 7)], options=LEFT)
    with pytest.raises(ConflictError, match="completed between reading and writing"):
        merge(table, change((1, "oslo"), ride(1, "oslo", 9, 9)), read_snapshot=visibility)


def test_a_record_keeps_its_key(table: HudiTable) -> None:
    with pytest.raises(KeyFieldError, match="'1' would become '100'"):
        merge(table, change((1, "oslo"), ride(100)))
