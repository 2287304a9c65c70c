"""Kinds of tables, drawn at random: types of keys, partitions, versions, indexes, statistics, layouts and what services do inline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa

Options = Mapping[str, str]

_TEXTS: Final = ("a", "ä/ö", "x:y,3", " z", "null", "k 5", "%2F", "A")
#: The type of a key column, and its values by number.
KEYS: Final[Mapping[str, tuple[pa.DataType, Callable[[int], Any]]]] = {
    "int": (pa.int32(), lambda number: number - 3),
    "long": (pa.int64(), lambda number: number * 10**10 - 7),
    "string": (pa.string(), lambda number: _TEXTS[number] if number < len(_TEXTS) else f"k{number}"),
    "date": (pa.date32(), lambda number: date(1960, 1, 1) + timedelta(days=number * 700)),
    "timestamp": (
        pa.timestamp("us", tz="UTC"),
        lambda number: (
            datetime(1965, 1, 1, tzinfo=UTC).astimezone(ZoneInfo("UTC")) + timedelta(days=number * 300, microseconds=number * 1001)
        ),
    ),
    "decimal": (pa.decimal128(12, 2), lambda number: Decimal(number * 111 - 500).scaleb(-2)),
}
_BUCKETS: Final = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "3"}
_CONSISTENT: Final = _BUCKETS | {
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.min.num.buckets": "1",
    "hoodie.bucket.index.max.num.buckets": "8",
}
_INDEXES: Final[Mapping[str, Options]] = {
    "none": {},
    "simple": {"hoodie.index.type": "SIMPLE"},
    "bloom": {"hoodie.index.type": "BLOOM"},
    "bucket": _BUCKETS,
    "consistent": _CONSISTENT,
    "global simple": {"hoodie.index.type": "GLOBAL_SIMPLE"},
    "global bloom": {"hoodie.index.type": "GLOBAL_BLOOM"},
    "record": {"hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX", "hoodie.metadata.global.record.level.index.enable": "true"},
}
_GLOBAL: Final = {"global simple": "simple", "global bloom": "bloom", "record": "record"}


@dataclass(frozen=True)
class TableKind:
    """How a table is made and written.

    Attributes:
        keys: the kinds of the key columns `k0`, `k1`.
        partitions: how many partition columns there are, `p0` of text and `p1` of numbers.
        moves: whether a row of another partition moves its record there, of a global index; None for an index of partitions.
        is_ordered: whether the column `ts` is the ordering field.
    """

    keys: tuple[str, ...]
    partitions: int
    table_type: str
    version: str
    index: str
    moves: bool | None
    is_ordered: bool
    created_with: Options
    written_with: Options

    @property
    def key_columns(self) -> list[str]:
        return [f"k{number}" for number in range(len(self.keys))]

    @property
    def partition_columns(self) -> list[str]:
        return [f"p{number}" for number in range(self.partitions)]

    def schema(self, columns: Mapping[str, pa.DataType]) -> pa.Schema:
        """The schema with the data columns."""
        keys = [(name, KEYS[kind][0]) for name, kind in zip(self.key_columns, self.keys, strict=True)]
        partitions = list(zip(self.partition_columns, (pa.string(), pa.int32()), strict=False))
        return pa.schema([*keys, *partitions, ("ts", pa.int64()), *columns.items()])


def random_kind(random: Random) -> TableKind:
    """Draw a kind of table, none that is refused by name."""
    keys = tuple(random.choice(list(KEYS)) for _ in range(random.choice((1, 1, 2))))
    partitions, version = random.choice((0, 1, 1, 2)), random.choice(("6", "8", "9", "9"))
    table_type = random.choice(("COPY_ON_WRITE", "MERGE_ON_READ"))
    index = random.choice([name for name in _INDEXES if not (name == "consistent" and table_type == "COPY_ON_WRITE")])
    is_virtual = index in ("none", "simple") and random.random() < 0.2 and (table_type == "COPY_ON_WRITE" or (len(keys) == 1 == partitions))
    moves = random.random() < 0.7 if index in _GLOBAL else None
    created_with = {"hoodie.write.table.version": version} | _table_options(random, partitions > 0, is_virtual)
    written_with = {**_INDEXES[index], **_write_options(random, table_type), **_metadata_options(random, index)}
    if moves is not None:
        written_with[f"hoodie.{_GLOBAL[index]}.index.update.partition.path"] = str(moves).lower()
    return TableKind(keys, partitions, table_type, version, index, moves, random.random() < 0.6, created_with, written_with)


def _some(random: Random, share: float, options: dict[str, str]) -> dict[str, str]:
    return options if random.random() < share else {}


def _table_options(random: Random, is_partitioned: bool, is_virtual: bool) -> dict[str, str]:
    options = dict[str, str]()
    if is_partitioned:
        options |= _some(random, 0.4, {"hoodie.datasource.write.hive_style_partitioning": "true"})
        options |= _some(random, 0.4, {"hoodie.datasource.write.partitionpath.urlencode": "true"})
    if is_virtual:
        return options | {"hoodie.populate.meta.fields": "false"}
    mode = random.choice(("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"))
    return options | _some(random, 0.3, {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode})


def _write_options(random: Random, table_type: str) -> dict[str, str]:
    options = {"hoodie.parquet.small.file.limit": random.choice(("0", "104857600"))}
    options |= _some(random, 0.3, {"hoodie.parquet.max.file.size": "20000"})
    options |= _some(random, 0.3, {"hoodie.parquet.block.size": "4000"})
    archives = {"hoodie.clean.commits.retained": "2", "hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "5"}
    options |= _some(random, 0.5, archives)
    options |= _some(random, 0.3, {"hoodie.clean.automatic": "false"})
    if table_type == "MERGE_ON_READ":
        options |= _some(random, 0.3, {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"})
        options |= _some(random, 0.3, {"hoodie.logfile.data.block.format": random.choice(("parquet", "avro"))})
    return options


def _metadata_options(random: Random, index: str) -> dict[str, str]:
    if index != "record" and random.random() < 0.25:
        return {"hoodie.metadata.enable": "false"}
    options = dict(_some(random, 0.4, {"hoodie.metadata.index.column.stats.enable": "true"}))
    options |= _some(random, 0.3, {"hoodie.metadata.index.bloom.filter.enable": "true"})
    return options | _some(random, 0.3, {"hoodie.metadata.compact.max.delta.commits": "2"})
