"""Apache Hudi reads the blocks that pyhudi makes, and takes the same blocks for damaged."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.codec.log.log_content import avro_records, encode_avro_content, encode_deletes
from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.codec.log.log_writer import encode_block, rollback_block
from pyhudi.codec.log.roaring_positions import encode_positions
from pyhudi.errors import HudiError
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys, OrderingType
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock
from tests.interop.reference import ReferenceHudi
from tests.slow_cases import slow_cases

T = OrderingType
DAY, TIME = dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 4, 5, 678901, dt.UTC)
ONE_DAY = dt.timedelta(days=1)


@dataclass
class SlicedTable:
    """A table that Apache Hudi wrote: keys a, b, c in one base file, an update of c in one log file, all of one ordering value."""

    path: Path
    log: Path
    written: bytes

    def put(self, data: bytes) -> None:
        """Writes the log file, as if Hudi had."""
        self.log.write_bytes(data)
        self.log.with_name(f".{self.log.name}.crc").unlink(missing_ok=True)

    @property
    def block(self) -> LogBlock:
        return next(scan_blocks(io.BytesIO(self.written), "log", len(self.written)))


def make(reference: ReferenceHudi, path: Path, types: tuple[pa.DataType, ...], values: tuple[Any, ...]) -> SlicedTable:
    def rows(keys: str, state: str) -> pa.Table:
        ordering = {f"o{index}": pa.array([value] * len(keys), kind) for index, (kind, value) in enumerate(zip(types, values, strict=True))}
        return pa.table({"id": list(keys), "state": [state] * len(keys), **ordering})

    options = {
        "hoodie.table.name": "logs",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.precombine.field": ",".join(f"o{index}" for index in range(len(types))),
        "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
        "hoodie.compact.inline": "false",
    }
    reference.write(path, rows("abc", "old"), "overwrite", options | {"hoodie.datasource.write.operation": "insert"})
    reference.write(path, rows("c", "new"), "append", options | {"hoodie.datasource.write.operation": "upsert"})
    (log,) = (file for file in path.iterdir() if parse_log_file_name(file.name))
    return SlicedTable(path, log, log.read_bytes())


@pytest.fixture(scope="module")
def table(reference: ReferenceHudi, tmp_path_factory: pytest.TempPathFactory) -> SlicedTable:
    return make(reference, tmp_path_factory.mktemp("logs") / "table", (pa.int64(),), (5,))


@pytest.fixture(autouse=True)
def as_written(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "table" in request.fixturenames:
        table = request.getfixturevalue("table")
        table.put(table.written)


def state_of(reference: ReferenceHudi, table: SlicedTable, **options: str) -> dict[str, str]:
    rows = reference.read(table.path, **options)
    return dict(zip(rows["id"].to_pylist(), rows["state"].to_pylist(), strict=True))


DAMAGES = {
    "nothing": lambda log: log,
    "cut off": lambda log: log + log[:50],
    "magic alone": lambda log: log + log[:6],
    "magic and half a size": lambda log: log + log[:10],
    "few bytes": lambda log: log + log[:5],
    "few zeros": lambda log: log + bytes(5),
    "zeros": lambda log: log + bytes(100),
    "text behind": lambda log: log + b"not a block",
    "text between": lambda log: log + b"not a block" + log,
    "cut off between": lambda log: log[:50] + log,
    "twice": lambda log: log + log,
    "size one more": lambda log: log[:6] + (len(log) - 13).to_bytes(8, "big") + log[14:],
    "size zero": lambda log: log[:6] + bytes(8) + log[14:] + log,
    "size beyond the end": lambda log: log[:6] + (2**40).to_bytes(8, "big") + log[14:] + log,
    "trailing length": lambda log: log[:-8] + bytes(8) + log,
    "magic within": lambda log: log[:100] + b"#HUDI#" + log[100:],
    "empty": lambda log: b"",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_both_take_the_same_blocks_for_whole(damage: str, reference: ReferenceHudi, table: SlicedTable) -> None:
    data = DAMAGES[damage](table.written)
    blocks = [block for block in scan_blocks(io.BytesIO(data), "log", len(data)) if block.type is BlockType.AVRO]
    table.put(data)
    assert state_of(reference, table) == {"a": "old", "b": "old", "c": "new" if blocks else "old"}


def test_file_without_magic_is_an_error_of_both(reference: ReferenceHudi, table: SlicedTable) -> None:
    data = b"not a log file"
    table.put(data)
    with pytest.raises(HudiError, match="not a log file"):
        list(scan_blocks(io.BytesIO(data), "log", len(data)))
    with pytest.raises(Exception, match="log"):
        state_of(reference, table)


def test_avro_block_of_pyhudi_is_read(reference: ReferenceHudi, table: SlicedTable) -> None:
    block = table.block
    records = avro_records(read_content(io.BytesIO(table.written), block))
    header = BlockHeader(instant=block.header.instant, schema_json=block.header.schema_json)
    table.put(encode_block(BlockType.AVRO, header, encode_avro_content([bytes(record) for record in records])))
    assert state_of(reference, table) == {"a": "old", "b": "old", "c": "new"}


def test_rollback_block_of_pyhudi_takes_the_block_before_it_back(reference: ReferenceHudi, table: SlicedTable) -> None:
    instant = table.block.header.instant
    assert instant
    table.put(table.written + rollback_block(instant, instant))
    assert state_of(reference, table) == {"a": "old", "b": "old", "c": "old"}


def test_rollback_block_of_pyhudi_leaves_blocks_of_others_and_behind_it_alone(reference: ReferenceHudi, table: SlicedTable) -> None:
    instant = table.block.header.instant
    assert instant
    table.put(rollback_block(instant, instant) + table.written + rollback_block(instant, "20000101000000000"))
    assert state_of(reference, table)["c"] == "new"


@pytest.mark.parametrize("by_position", ["true", "false"])
def test_positions_of_pyhudi_are_used(by_position: str, reference: ReferenceHudi, table: SlicedTable) -> None:
    header = table.block.header
    assert header.positions_of
    positioned = BlockHeader(
        instant=header.instant, schema_json=header.schema_json, positions=encode_positions([0, 1]), positions_of=header.positions_of
    )
    deletes = encode_deletes(DeletedKeys(("a", "b"), ("", ""), (6, 4)), [T.LONG])
    table.put(table.written + encode_block(BlockType.DELETE, positioned, deletes))
    assert state_of(reference, table, hoodie__merge__use__record__positions=by_position) == {"b": "old", "c": "new"}


def test_delete_by_commit_time_of_pyhudi_wins_over_every_ordering_value(reference: ReferenceHudi, table: SlicedTable) -> None:
    header = BlockHeader(instant=table.block.header.instant, schema_json=table.block.header.schema_json)
    deletes = encode_deletes(DeletedKeys(("a", "c"), ("", ""), (COMMIT_TIME_DELETE, None)), [])
    table.put(table.written + encode_block(BlockType.DELETE, header, deletes))
    assert state_of(reference, table) == {"b": "old"}


# Types of the ordering columns, their value in all rows, types in the delete block, an ordering value below and one above.
ORDERED = {
    "bigint": ((pa.int64(),), (5,), (T.LONG,), 0, 6),
    "int": ((pa.int32(),), (5,), (T.INT,), 4, 6),
    "smallint": ((pa.int16(),), (5,), (T.INT,), 4, 6),
    "float": ((pa.float32(),), (1.5,), (T.FLOAT,), 1.25, 1.75),
    "double": ((pa.float64(),), (1.5,), (T.DOUBLE,), 1.4, 1.6),
    "boolean": ((pa.bool_(),), (True,), (T.BOOLEAN,), False, True),
    "string": ((pa.string(),), ("m",), (T.STRING,), "l", "mé"),
    "decimal": ((pa.decimal128(10, 2),), (Decimal("5.00"),), (T.DECIMAL,), Decimal("4.99"), Decimal("5.01")),
    "date": ((pa.date32(),), (DAY,), (T.INT,), DAY - ONE_DAY, DAY + ONE_DAY),
    "timestamp": ((pa.timestamp("us", "UTC"),), (TIME,), (T.LONG,), TIME - ONE_DAY, TIME + ONE_DAY),
    "timestamp_ntz": ((pa.timestamp("us"),), (TIME.replace(tzinfo=None),), (T.LONG,), TIME - ONE_DAY, TIME + ONE_DAY),
    "int, date": ((pa.int32(), pa.date32()), (5, DAY), (T.INT, T.INT), (5, DAY - ONE_DAY), (5, DAY + ONE_DAY)),
    "bigint, string": ((pa.int64(), pa.string()), (5, "m"), (T.LONG, T.STRING), (None, "z"), (5, "n")),
    "timestamp, decimal": (
        (pa.timestamp("us", "UTC"), pa.decimal128(10, 2)),
        (TIME, Decimal("5.00")),
        (T.LONG, T.DECIMAL),
        (TIME, Decimal("4.00")),
        (TIME, Decimal("6.00")),
    ),
}


#: Their values are written as those of the types beside them.
LONG = {"smallint", "double", "date", "timestamp_ntz"}


@pytest.mark.parametrize("name", slow_cases(ORDERED, LONG))
def test_delete_of_pyhudi_with_an_ordering_value_counts_when_it_is_not_late(name: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    columns, values, types, below, above = ORDERED[name]
    table = make(reference, tmp_path / "table", columns, values)
    header = BlockHeader(instant=table.block.header.instant, schema_json=table.block.header.schema_json)
    # A null is late against everything, in the base file and in the log.
    deletes = encode_deletes(DeletedKeys(("b", "a", "c"), ("", "", ""), (above, below, None)), types)
    table.put(table.written + encode_block(BlockType.DELETE, header, deletes))
    assert state_of(reference, table) == {"a": "old", "c": "new"}
