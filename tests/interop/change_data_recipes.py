"""How the fixtures with captured changes are made: updates, deletes, inserts into small files, a replaced partition, a compaction."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa

from tests.interop.merge_on_read_recipes import INSERT, MERGE_ON_READ, ORDERED, QUIET, events
from tests.interop.reference import ReferenceHudi

CAPTURE = {"hoodie.table.cdc.enabled": "true"}
KINDS = {"cow": {**MERGE_ON_READ, "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}, "mor": MERGE_ON_READ}


def change_data(kind: str, mode: str, reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    given = table | QUIET | KINDS[kind] | ORDERED | CAPTURE | {"hoodie.table.cdc.supplemental.logging.mode": mode}
    reference.write(path, events((0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 1, 0)), "overwrite", given | INSERT)
    compact = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"} if kind == "mor" else {}
    reference.write(path, events((0, 2, 1), (4, 2, 1), (1, 0, 9)), "append", given)
    reference.write(path, events((3, 2, 0), deleted=True), "append", given | compact)
    reference.write(path, events((0, 3, 2), (2, 3, 2)), "append", given)
    reference.write(path, events((5, 3, 2)), "append", given | {"hoodie.datasource.write.operation": "insert_overwrite"})


def changes(reference: ReferenceHudi, path: Path) -> pa.Table:
    """The change data of a table, as Apache Hudi reads it."""
    return reference.sql(f"SELECT * FROM hudi_table_changes('{path}', 'cdc', 'earliest')")


cow = partial(change_data, "cow", "DATA_BEFORE_AFTER")
mor = partial(change_data, "mor", "DATA_BEFORE")
