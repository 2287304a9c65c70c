"""The kinds of table that both sides write in turn, and the plain Python model of the rows that must be in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import TRIPS, data
from tests.slow_cases import slow_cases

KEY_GENERATORS = "org.apache.hudi.keygen."


@dataclass(frozen=True)
class Kind:
    """How a table of trips is made, said once for both sides."""

    name: str
    keys: tuple[str, ...] = ("id",)
    partition_by: tuple[str, ...] = ("city",)
    order_by: tuple[str, ...] = ()
    version: int = 9
    table_type: str = "COPY_ON_WRITE"
    options: Mapping[str, str] = field(default_factory=dict)

    def create(self, path: Path, schema: pa.Schema = TRIPS) -> HudiTable:
        options = {"hoodie.write.table.version": str(self.version), **self.options}
        return HudiTable.create(
            path,
            schema,
            name="trips",
            keys=self.keys,
            partition_by=self.partition_by,
            order_by=self.order_by,
            table_type=self.table_type,
            options=options,
        )

    def reference_options(self, operation: str) -> dict[str, str]:
        fields = {
            "hoodie.datasource.write.recordkey.field": self.keys,
            "hoodie.datasource.write.partitionpath.field": self.partition_by,
            "hoodie.table.ordering.fields": self.order_by,
        }
        return {
            "hoodie.table.name": "trips",
            "hoodie.write.table.version": str(self.version),
            "hoodie.datasource.write.table.type": self.table_type,
            "hoodie.datasource.write.operation": operation,
            **{key: ",".join(names) for key, names in fields.items() if names},
            **self.options,
        }

    def reference_writes(self, reference: ReferenceHudi, path: Path, operation: str, rows: pa.Table) -> None:
        reference.write(path, rows, "append", self.reference_options(operation))


HIVE_STYLE = {"hoodie.datasource.write.hive_style_partitioning": "true"}
ENCODED = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
KINDS = (
    Kind("partitioned"),
    Kind("not_partitioned", partition_by=()),
    Kind("hive_style", options=HIVE_STYLE),
    Kind("version_8", version=8, options=HIVE_STYLE),
    Kind("version_6", version=6, options=HIVE_STYLE),
    Kind("event_time", order_by=("amount",)),
    Kind("event_time_version_8", order_by=("amount",), version=8),
    Kind("event_time_version_6", order_by=("amount",), version=6),
    Kind("two_ordering_fields", order_by=("amount", "price"), partition_by=()),
    Kind("two_keys_two_partitions", keys=("id", "price"), partition_by=("city", "price"), options=HIVE_STYLE),
    Kind(
        "one_key_of_the_complex_generator",
        options={"hoodie.datasource.write.keygenerator.class": KEY_GENERATORS + "ComplexKeyGenerator"},
    ),
    Kind("utc_timeline", options={"hoodie.table.timeline.timezone": "UTC"}),
    Kind("local_timeline", options={"hoodie.table.timeline.timezone": "LOCAL"}),
)


def each_kind(kinds: Iterable[Kind], *, long: Collection[str]) -> pytest.MarkDecorator:
    """Run a test with each kind; those of these names, between which and the others nothing new is tried, in the long proofs only."""
    every = list(kinds)
    values = slow_cases(every, [kind for kind in every if kind.name in long])
    return pytest.mark.parametrize("kind", values, ids=lambda kind: kind.name)


@dataclass
class Model:
    """The rows of a table, by trip."""

    order_by: tuple[str, ...] = ()
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def upsert(self, rows: pa.Table) -> pa.Table:
        for row in rows.to_pylist():
            stored = self.rows.get(row["id"])
            if stored is None or self._order(row) >= self._order(stored):
                self.rows[row["id"]] = row
        return rows

    def delete(self, rows: pa.Table) -> pa.Table:
        for row in rows.to_pylist():
            self.rows.pop(row["id"], None)
        return rows

    def _order(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.order_by)

    def sorted(self) -> list[dict[str, Any]]:
        return [self.rows[name] for name in sorted(self.rows)]


def assert_both_read(reference: ReferenceHudi, path: Path, expected: list[dict[str, Any]]) -> None:
    """Apache Hudi and pyhudi read the same rows, the expected ones, and the same meta columns."""
    by_reference = reference.read(path)
    by_pyhudi = HudiTable.open(path).to_arrow(meta_columns=True)
    assert data(by_reference) == expected
    assert data(by_pyhudi) == expected
    reference.compared += len(expected)
    meta = [
        "_hoodie_commit_time",
        "_hoodie_commit_seqno",
        "_hoodie_record_key",
        "_hoodie_partition_path",
        "_hoodie_file_name",
    ]
    # Bulk inserts of several tasks number their rows alike.
    order = [(meta[1], "ascending"), (meta[2], "ascending")]
    assert by_pyhudi.select(meta).sort_by(order).to_pylist() == by_reference.select(meta).sort_by(order).to_pylist()
