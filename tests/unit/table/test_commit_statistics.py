"""What commits state on request: event times, entries of the metadata of earlier commits, and commits without files."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError, OptionError
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.timeline.instant_details import read_commit
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.table.tables import make_table, ride, rows_of

SECONDS, MILLIS = 1_700_000_000, 1_700_000_000_000
TRACKED = {"hoodie.write.track.event.time.watermark": "true", "hoodie.payload.event.time.field": "at"}
ROLLING = "hoodie.write.rolling.metadata.keys"
EMPTY = {"hoodie.allow.empty.commit": "true"}
#: A row group for each row, so that row groups that do not change could be copied.
SMALL_GROUPS = {"hoodie.parquet.block.size": "1"}


def commits(table: HudiTable) -> list[CommitMetadata]:
    timeline = load_timeline(table.storage, table.config)
    return [read_commit(table.storage, table.config, instant) for instant in timeline.data_instants()]


def event_times(table: HudiTable) -> list[tuple[int | None, int | None]]:
    """Those of each file of the newest commit."""
    return sorted((stat.min_event_time, stat.max_event_time) for stat in commits(table)[-1].all_stats())


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_event_times_are_those_that_apache_hudi_states(table_type: str) -> None:
    """The same rows as in a recording of Apache Hudi 1.2.0: a new base file states all its rows, a log file its own."""
    table = make_table(partition_by=["city"], table_type=table_type)
    options = {**TRACKED, **SMALL_GROUPS}
    table.insert([ride(1, at=SECONDS), ride(2, at=MILLIS + 500)], options)
    assert event_times(table) == [(MILLIS, MILLIS + 500)]
    table.upsert([ride(1, at=MILLIS + 5000), ride(3, "rome", at=MILLIS + 3000)], options)
    least = MILLIS + 500 if table_type == "COPY_ON_WRITE" else MILLIS + 5000
    assert event_times(table) == sorted([(least, MILLIS + 5000), (MILLIS + 3000, MILLIS + 3000)])
    table.delete([ride(1)], options=options)
    assert event_times(table) == ([(MILLIS + 500, MILLIS + 500)] if table_type == "COPY_ON_WRITE" else [(None, None)])
    table.upsert([ride(2, at=MILLIS)])
    assert event_times(table) == [(None, None)], "not asked for"


AT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int64(), [SECONDS, 5, None, -SECONDS, 10**18], (MILLIS, MILLIS)),
        (pa.uint32(), [2**32 - 1, 5], (4294967295000, 4294967295000)),
        (pa.int32(), [None, 7], (None, None)),
        (pa.string(), ["1700000001", "17e8", "today", None], (MILLIS + 1000, MILLIS + 1000)),
        (pa.timestamp("us", "UTC"), [AT, None], (MILLIS, MILLIS)),
        (pa.date32(), [date(1970, 1, 2), date(1969, 12, 31)], (-86_400_000, 86_400_000)),
        (pa.struct({"at": pa.int64()}), [{"at": SECONDS}, None, {"at": None}], (MILLIS, MILLIS)),
    ],
)
def test_event_times_of_types(kind: pa.DataType, values: list[Any], expected: tuple[int | None, int | None]) -> None:
    table = make_table(schema=pa.schema({"id": pa.int64(), "x": kind}))
    name = "x.at" if pa.types.is_struct(kind) else "x"
    rows = pa.table({"id": range(len(values)), "x": pa.array(values, kind)})
    table.insert(rows, {**TRACKED, "hoodie.payload.event.time.field": name})
    assert event_times(table) == [expected]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hoodie.write.track.event.time.watermark": "true"}, "set hoodie.payload.event.time.field"),
        ({**TRACKED, "hoodie.payload.event.time.field": "att"}, "att is no column of numbers.*id, city, value, at"),
        ({**TRACKED, "hoodie.payload.event.time.field": "at.year"}, "at.year is no column"),
        ({ROLLING: "a,schema"}, "'schema' is what each commit states of itself"),
        ({ROLLING: "pyhudi.table.identity"}, "cannot be taken over"),
        ({ROLLING: "a", "hoodie.write.rolling.metadata.timeline.lookback.commits": "0"}, "above 0"),
        ({"hoodie.allow.empty.commit": "yes"}, "true or false"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(options: dict[str, str], message: str) -> None:
    table = make_table()
    error: type[HudiError] = OptionError
    with pytest.raises(error, match=message):
        table.insert([ride(1)], options)
    assert table.history().num_rows == 0


def test_rolling_entries_go_from_commit_to_commit() -> None:
    table = make_table(table_type="MERGE_ON_READ")
    rolling = {ROLLING: "_offset, _job", "hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"}
    table.insert([ride(1)], {"_offset": "10", "_job": "a"})
    table.upsert([ride(1, value=1)], {**rolling, "_offset": "11"})
    table.upsert([ride(1, value=2)], rolling)
    table.upsert([ride(1, value=3)], rolling)
    states = [{key: one.extra_metadata.get(key) for key in ("_offset", "_job")} for one in commits(table)]
    taken_over = {"_offset": "11", "_job": "a"}
    assert states == [{"_offset": "10", "_job": "a"}, *([taken_over] * (len(states) - 1))]
    assert [one.operation for one in commits(table)].count("COMPACT") == 1
    table.services.cluster(options={ROLLING: "_job"})
    assert {key: commits(table)[-1].extra_metadata.get(key) for key in taken_over} == {"_offset": None, "_job": "a"}
    table.upsert([ride(1, value=4)], {ROLLING: "_offset", "hoodie.write.rolling.metadata.timeline.lookback.commits": "1"})
    assert "_offset" not in commits(table)[-1].extra_metadata, "the newest commit has none, and no other is asked"


@pytest.mark.parametrize("concurrency", [{}, {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_empty_commits_on_request(table_type: str, concurrency: dict[str, str]) -> None:
    lock = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"} if concurrency else {}
    options = {**concurrency, **lock, "hoodie.clean.failed.writes.policy": "LAZY" if concurrency else "EAGER"}
    table = make_table(MemoryStorage(), table_type=table_type, partition_by=["city"])
    table.insert([ride(1)])
    none = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64(), "at": pa.int64()}).empty_table()
    assert table.upsert(none, options).instant is None
    for result in (table.upsert(none, {**options, **EMPTY, "_offset": "12"}), table.delete([ride(9)], options={**options, **EMPTY})):
        assert result.instant is not None
        assert (result.files_written, result.inserted, result.deleted) == (0, 0, 0)
    first, second = commits(table)[-2:]
    assert (first.extra_metadata["_offset"], first.stats, second.stats, second.operation) == ("12", {}, {}, "DELETE")
    assert json.loads(first.extra_metadata["schema"])["fields"][-1]["name"] == "at"
    assert rows_of(table) == [ride(1)]
    table.upsert([ride(1, value=7)])
    assert rows_of(HudiTable(table.storage)) == [ride(1, value=7)]


def test_payload_ordering_field_is_a_name_of_the_ordering_fields() -> None:
    table = make_table(order_by=["at"])
    table.insert([ride(1, value=1, at=5)], {"hoodie.payload.ordering.field": "at"})
    assert table.upsert([ride(1, value=2, at=4)], {"hoodie.payload.ordering.field": "at"}).late_dropped == 1
    with pytest.raises(OptionError, match="two names of one option"):
        table.upsert([ride(1)], {"hoodie.payload.ordering.field": "value", "hoodie.table.ordering.fields": "at"})
