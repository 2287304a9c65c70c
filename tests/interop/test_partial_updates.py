"""Tables whose rows are filled from several versions, made and written by pyhudi: Apache Hudi reads them equal, and continues them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi
from tests.unit.table.test_partial_updates import (
    BATCH,
    BY_COMMIT_TIME,
    BY_EVENT_TIME,
    FIRST,
    NON_DEFAULTS,
    OLDER,
    PARTIAL,
    SCHEMA,
    Rows,
    data,
    rows_of,
)


def reference_answer(reference: ReferenceHudi, path: Path) -> Rows:
    return sorted(tuple(row[name] for name in SCHEMA.names) for row in reference.read(path).to_pylist())


@pytest.mark.parametrize(
    ("payload", "version", "kind", "expected"),
    [
        (PARTIAL, "9", "mor", BY_EVENT_TIME),
        (NON_DEFAULTS, "9", "cow", BY_COMMIT_TIME),
        (NON_DEFAULTS, "8", "mor", OLDER),
        (PARTIAL, "6", "mor", BY_EVENT_TIME),
    ],
)
def test_both_sides_fill_the_same_rows(
    payload: str, version: str, kind: str, expected: Rows, reference: ReferenceHudi, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    options = {"hoodie.datasource.write.payload.class": payload, "hoodie.write.table.version": version}
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], order_by=["ts"], table_type=kind, options=options)
    table.insert(data(FIRST))
    HudiTable.open(path).upsert(data(BATCH), {"hoodie.logfile.data.block.format": "avro"})
    assert reference_answer(reference, path) == expected

    more = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", "hoodie.datasource.write.partitionpath.field": ""}
    more |= {"hoodie.datasource.write.precombine.field": "ts", "hoodie.datasource.write.operation": "upsert"}
    kinds = {"mor": "MERGE_ON_READ", "cow": "COPY_ON_WRITE"}
    more |= {"hoodie.datasource.write.table.type": kinds[kind], "hoodie.metadata.enable": "false", **options}
    reference.write(path, data([("a", 30, 3, None), ("f", 30, None, "f1"), ("z", 1, None, None)]), "append", more)
    after = rows_of(HudiTable.open(path))
    assert reference_answer(reference, path) == after
    assert {row[0]: row[1:] for row in after}["f"] == (30, 1, "f1")
