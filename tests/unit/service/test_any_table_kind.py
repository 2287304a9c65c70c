"""Each table service on tables whose rows hold no meta columns (virtual keys), whose files lack the partition columns, or whose keys and
partition paths a user's own generator makes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable, register_key_generator
from tests.unit.table.tables import copy_of

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "fare": pa.int64()})
VIRTUAL = {"hoodie.populate.meta.fields": "false"}
DROPPED = {"hoodie.datasource.write.drop.partition.columns": "true"}
OWN_KEYS = {"hoodie.datasource.write.keygenerator.class": "tests.ReversedKeys"}
FEATURES = {"virtual": VIRTUAL, "dropped": DROPPED, "both": VIRTUAL | DROPPED, "generator": OWN_KEYS}
QUIET = {"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false", "hoodie.parquet.small.file.limit": "0"}
#: Merge-on-read tables keep their partition columns, as in Apache Hudi.
KINDS = [("MERGE_ON_READ", "virtual"), ("MERGE_ON_READ", "generator"), *(("COPY_ON_WRITE", name) for name in FEATURES)]
PLAN = "hoodie.clustering.plan.strategy."
numbers = itertools.count()


class ReversedKeys:
    """Keys and partition paths that no column holds."""

    def record_key(self, record: Mapping[str, Any]) -> str:
        return str(record["id"])[::-1] + "-" + str(record["city"])

    def partition_path(self, record: Mapping[str, Any]) -> str:
        return "at/" + str(record["city"])


@pytest.fixture(autouse=True)
def _own_keys() -> None:
    register_key_generator("tests.ReversedKeys", ReversedKeys())


class _Later:
    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=3)


@functools.cache
def made(table_type: str, features: str, version: str) -> HudiTable:
    """Return a table of 4 inserts into 2 partitions, and an upsert of 4 rows, of which tests change a copy."""
    given = {"hoodie.write.table.version": version, **FEATURES[features]}
    table = HudiTable.create(
        f"memory://kind-{next(numbers)}", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type, options=given
    )
    for number in range(4):
        table.insert(rides(number * 10, 10), QUIET)
    table.upsert(rides(0, 4, fare=1000), QUIET)
    return table


def rides(first: int, count: int, fare: int = 0) -> list[dict[str, Any]]:
    return [{"id": id_, "city": ("oslo", "rome")[id_ % 2], "fare": id_ * 37 % 101 + fare} for id_ in range(first, first + count)]


def state(table: HudiTable) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_arrow().sort_by("id").to_pylist()
    return rows


def compact(table: HudiTable) -> None:
    if table.config.is_merge_on_read:
        (done,) = table.services.compact()
        assert done.state == "completed"


def cluster(table: HudiTable) -> None:
    (done,) = table.services.cluster(options={f"{PLAN}sort.columns": "fare"})
    assert (done.state, done.rows) == ("completed", 40)


def join_files(table: HudiTable) -> None:
    (done,) = table.services.cluster(options={f"{PLAN}class": "SparkStreamCopyClusteringPlanStrategy"})
    assert (done.state, done.rows) == ("completed", 40)


def cluster_by_partition_column(table: HudiTable) -> None:
    (done,) = table.services.cluster(options={f"{PLAN}sort.columns": "city,id"})
    assert done.rows == 40


def clean(table: HudiTable) -> None:
    cluster(table)
    (done,) = table.services.clean(options={"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})
    assert done.files


def archive(table: HudiTable) -> None:
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    cluster(table)
    table.upsert(rides(0, 1), QUIET | {"hoodie.metadata.compact.max.delta.commits": "1"})
    table.upsert(rides(0, 4, fare=1000), QUIET | {"hoodie.metadata.compact.max.delta.commits": "1"})
    table.services.clean(options=limits)
    assert table.services.archive(options=limits).instants


def restore(table: HudiTable) -> None:
    savepoint = table.services.savepoint()
    table.upsert(rides(0, 20, fare=7), QUIET)
    cluster(table)
    assert table.services.restore(to=savepoint.instant).state == "completed"


def roll_back_latest(table: HudiTable) -> None:
    done = table.upsert(rides(0, 20, fare=7), QUIET)
    table.services.rollback(done.instant)


def expire(table: HudiTable) -> None:
    savepoint = table.services.savepoint().instant
    later = HudiTable(table.storage, clock=_Later())
    later.insert([{"id": 100, "city": "bern", "fare": 1}], QUIET)
    result = later.services.ttl(options={"hoodie.partition.ttl.strategy.days.retain": "2"})
    assert {one.path.removeprefix("at/") for one in result.partitions} == {"oslo", "rome"}
    assert state(table) == [{"id": 100, "city": "bern", "fare": 1}]
    table.services.restore(to=savepoint)


def build_indexes(table: HudiTable) -> None:
    table.services.index("column_stats", drop=True)
    assert table.services.index("column_stats").built


SERVICES = (
    compact,
    cluster,
    join_files,
    cluster_by_partition_column,
    clean,
    archive,
    restore,
    roll_back_latest,
    expire,
    build_indexes,
)


@pytest.mark.parametrize("version", ["9", pytest.param("6", marks=pytest.mark.slow), pytest.param("8", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("table_type", "features"), KINDS)
@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.__name__)
def test_service_keeps_every_row(service: Callable[[HudiTable], None], table_type: str, features: str, version: str) -> None:
    table = copy_of(made(table_type, features, version))
    before = state(table)
    service(table)
    assert state(table) == before
    assert table.count("city = 'oslo'") == 20
    table.upsert(rides(0, 40, fare=5), QUIET)
    assert state(table) == rides(0, 40, fare=5)
    assert table.inspect.health().to_pylist() == []
