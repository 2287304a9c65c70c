"""Tables of every version, type, key generator and merge rule with a history of writes and table services, made by pyhudi."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi import HudiTable

SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "at": pa.int64(), "rank": pa.int64(), "note": pa.string()})
PAYLOADS = "org.apache.hudi.common.model."
PAYLOAD = "hoodie.datasource.write.payload.class"
TIMES = "hoodie.keygen.timebased."
DAYS = {TIMES + "timestamp.type": "EPOCHMILLISECONDS", TIMES + "output.dateformat": "yyyy/MM/dd", TIMES + "timezone": "UTC"}
#: Services run when the history says so, and nothing is cleaned.
QUIET = {"hoodie.compact.inline": "false", "hoodie.datasource.compaction.async.enable": "false"}
DAY = 86_400_000


@dataclass(frozen=True)
class Generator:
    """How keys and partitions are made."""

    keys: tuple[str, ...] = ("id",)
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """Which version of a record stands."""

    order_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Shape:
    """A kind of table."""

    version: int
    table_type: str
    generator: str
    rule: str

    def __str__(self) -> str:
        return f"v{self.version}-{'mor' if self.table_type == 'MERGE_ON_READ' else 'cow'}-{self.generator}-{self.rule}"


GENERATORS = {
    "none": Generator(),
    "simple": Generator(partition_by=("city",)),
    "complex": Generator(
        keys=("id", "city"), partition_by=("city", "at"), options={"hoodie.datasource.write.hive_style_partitioning": "true"}
    ),
    "timestamp": Generator(partition_by=("at",), options={"hoodie.datasource.write.keygenerator.type": "TIMESTAMP", **DAYS}),
    "custom": Generator(partition_by=("city:SIMPLE", "at:TIMESTAMP"), options=DAYS),
}
RULES = {
    "commit": Rule(options={"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}),
    "event": Rule(order_by=("rank",)),
    "partial": Rule(order_by=("rank",), options={PAYLOAD: PAYLOADS + "PartialUpdateAvroPayload"}),
    "defaults": Rule(order_by=("rank",), options={PAYLOAD: PAYLOADS + "OverwriteNonDefaultsWithLatestAvroPayload"}),
}
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
EVERY = [Shape(*one) for one in ((v, t, g, r) for v in (6, 8, 9) for t in TYPES for g in GENERATORS for r in RULES)]


def each_once() -> list[Shape]:
    """A few shapes, in which every version, type, generator and rule occurs."""
    kinds = [(version, table_type) for table_type in reversed(TYPES) for version in (6, 8, 9)]
    return [Shape(*kind, generator, rule) for kind, generator, rule in zip(kinds, islice(cycle(GENERATORS), 1, None), cycle(RULES))]


def lived(path: Path, context: Shape, seed: int = 0, steps: int = 7, *, captured: bool = False) -> HudiTable:
    """Make a table at `path` and have it written, compacted and overwritten as the seed says."""
    generator, rule = GENERATORS[context.generator], RULES[context.rule]
    given = {"hoodie.write.table.version": str(context.version), **generator.options, **rule.options}
    given |= {"hoodie.table.cdc.enabled": "true"} if captured else {}
    table = HudiTable.create(
        path,
        SCHEMA,
        name="lived",
        keys=generator.keys,
        partition_by=generator.partition_by,
        order_by=rule.order_by,
        table_type=context.table_type,
        options=given,
    )
    chance = random.Random(f"{context} {seed}")
    table.insert(rows(chance, range(8)), options=QUIET)
    for step in _steps(table, context, chance, steps):
        step()
    return HudiTable.open(path)


def rows(chance: random.Random, numbers: Any) -> pa.Table:
    """Rows of some records; a record is in the same partition each time."""
    result = [
        {
            "id": f"k{number}",
            "city": ("oslo", "lima", None)[number % 3],
            "at": number % 2 * DAY,
            "rank": chance.choice([1, 2, 3, 3]),
            "note": chance.choice([None, f"n{chance.randrange(99)}"]),
        }
        for number in numbers
    ]
    return pa.Table.from_pylist(result, SCHEMA)


def _steps(table: HudiTable, context: Shape, chance: random.Random, count: int) -> Iterator[Callable[[], Any]]:
    merge_on_read = context.table_type == "MERGE_ON_READ"
    kinds = ["upsert", "upsert", "upsert", "delete", "insert", "overwrite", *(["plan", "compact"] if merge_on_read else [])]
    fresh = iter(range(100, 1000))
    for _ in range(count):
        kind = chance.choice(kinds)
        if kind == "upsert":
            yield lambda: table.upsert(rows(chance, chance.sample(range(12), 4)), options=QUIET)
        elif kind == "delete":
            yield lambda: table.delete(rows(chance, chance.sample(range(12), 2)), options=QUIET)
        elif kind == "insert":
            yield lambda: table.insert(rows(chance, [next(fresh), next(fresh)]), options=QUIET)
        elif kind == "overwrite":
            yield lambda: table.overwrite(rows(chance, [chance.randrange(12)]), dynamic=True, options=QUIET)
        elif kind == "plan":
            yield lambda: table.services.compact(mode="schedule")
        else:
            yield table.services.compact
