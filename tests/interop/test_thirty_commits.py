"""A table of thirty mixed commits with every index on: Apache Hudi finds its metadata table right, reads by it, and goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyhudi.txn.commit_sequence as commit_sequence
from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi
from tests.interop.test_indexes import ON
from tests.unit.service.test_indexes import SCHEMA, check, rows

INDEXES = ON | {"hoodie.metadata.index.bloom.filter.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
BY_REFERENCE = INDEXES | {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.datasource.write.operation": "upsert",
    # Once Apache Hudi has cleaned a table that has an expression index its own writes fail, on tables of its own as well (0071).
    "hoodie.clean.automatic": "false",
}
CONDITIONS = (
    "id = 'k003'",
    "id IN ('k001', 'k014', 'k040', 'nothing')",
    "name = 'N$51'",
    "name IN ('N$3', 'N$4')",
    "ts > 20 AND city = 'c1'",
    "ts = 0 OR id = 'k030'",
    "name IS NULL",
    "city = 'c0' AND id > 'k010'",
)


class FailedError(Exception):
    """What a write ends with that fails."""


@dataclass
class Told:
    """A table that is written, and the model of its rows that is told the same."""

    path: Path
    is_merge_on_read: bool
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def table(self) -> HudiTable:
        return HudiTable.open(self.path)

    def note(self, data: pa.Table) -> pa.Table:
        self.rows.update({row["id"]: row for row in data.to_pylist()})
        return data

    def forget(self, keys: Iterable[str]) -> None:
        for key in list(keys):
            self.rows.pop(key, None)

    def of(self, cities: Iterable[str]) -> list[str]:
        return [key for key, row in self.rows.items() if row["city"] in set(cities)]

    def ten_commits(self, turn: int) -> None:
        """Every kind of commit; a write that fails once the metadata table knows it, and is rolled back, comes between."""
        time, new = 20 * turn + 10, 60 + 4 * turn
        self.table.upsert(self.note(rows(0, 6, ts=time)), INDEXES)
        self.table.insert(self.note(rows(new, new + 4)), INDEXES)
        self.table.delete(where=f"id in ('k004', 'k{new:03d}')", options=INDEXES)
        self.forget(["k004", f"k{new:03d}"])
        self.table.upsert(self.note(rows(4, 5, ts=time + 1)), INDEXES)
        self.table.insert(self.note(rows(80, 83, city="gone")), INDEXES)
        if self.is_merge_on_read:
            self.table.services.compact(options=INDEXES | {"hoodie.compact.inline.max.delta.commits": "1"})
        else:
            self.table.upsert(self.note(rows(50, 54, ts=3)), INDEXES)
        self.table.delete(partitions=["gone"], options=INDEXES)
        self.forget(self.of(["gone"]))
        whole = rows(100, 104, city="whole")
        self.table.overwrite(whole, dynamic=True, options=INDEXES)
        self.forget(self.of(["whole"]))
        self.note(whole)
        self.table.upsert(self.note(rows(8, 14, ts=time + 2)), INDEXES)
        self.table.delete(where="id in ('k009', 'k101')", options=INDEXES)
        self.forget(["k009", "k101"])


def fail_a_write(table: HudiTable, patch: pytest.MonkeyPatch) -> None:
    tell = commit_sequence.record_commit  # type: ignore[attr-defined]

    def fail(*args: Any) -> None:
        tell(*args)
        raise FailedError

    patch.setattr(commit_sequence, "record_commit", fail)
    with pytest.raises(FailedError):
        table.upsert(rows(3, 40, ts=999), INDEXES)
    patch.undo()


def reference_answer(reference: ReferenceHudi, messages: Told, name: str) -> None:
    expected = [messages.rows[key] for key in sorted(messages.rows)]
    assert messages.table.to_arrow().sort_by("id").to_pylist() == expected
    for enabled in ("true", "false"):
        theirs = reference.read(messages.path, hoodie__metadata__enable=enabled, hoodie__enable__data__skipping="true")
        assert theirs.select(SCHEMA.names).sort_by("id").to_pylist() == expected
    call = f"CALL validate_metadata_table_files(table => '{name}', verbose => true)"
    result = reference.sql(f"REFRESH TABLE {name}", call, conf=INDEXES).to_pylist()
    assert result
    assert all(row["is_present_in_fs"] and row["is_present_in_metadata"] and row["fs_size"] == row["metadata_size"] for row in result)
    for condition in CONDITIONS:
        question = f"SELECT id FROM {name} WHERE {condition}"
        by_index, by_rows = (
            reference.sql(question, conf=conf)["id"].to_pylist() for conf in (INDEXES, {"hoodie.metadata.enable": "false"})
        )
        ours = messages.table.to_arrow(columns=["id"], filter=condition)["id"].to_pylist()
        assert sorted(by_index) == sorted(by_rows) == sorted(ours), condition
    assert [row for row in messages.table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


@pytest.mark.slow
@pytest.mark.parametrize(("version", "kind"), [(8, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
def test_apache_hudi_agrees_with_every_index_after_thirty_commits_and_continues(
    reference: ReferenceHudi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, kind: str
) -> None:
    recorded, name = Told(tmp_path / "t", kind == "MERGE_ON_READ"), f"thirty_{version}"
    options = {"hoodie.write.table.version": str(version)}
    table = HudiTable.create(
        str(recorded.path), SCHEMA, name="t", keys=("id",), partition_by=("city",), order_by=("ts",), table_type=kind, options=options
    )
    table.insert(recorded.note(rows(0, 30)), INDEXES)
    table.services.index("by_name", "name")
    table.services.index("low", "name", using="column_stats", options={"expr": "lower"})
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{recorded.path}'")
    for turn in range(3):
        recorded.ten_commits(turn)
        fail_a_write(recorded.table, monkeypatch)
        reference_answer(reference, recorded, name)
    check(recorded.table)
    index_names = {"files", "column_stats", "bloom_filters", "record_index", "secondary_index_by_name", "expr_index_low"}
    assert set(recorded.table.config.metadata_partitions) == index_names | (set() if recorded.is_merge_on_read else {"partition_stats"})
    for turn in range(3):
        theirs = recorded.note(rows(10 * turn, 10 * turn + 3, ts=100 + turn))
        reference.write(recorded.path, theirs, options=BY_REFERENCE | options | {"hoodie.datasource.write.table.type": kind})
        recorded.table.upsert(recorded.note(rows(10 * turn + 2, 10 * turn + 6, ts=200 + turn)), INDEXES)
    reference_answer(reference, recorded, name)
