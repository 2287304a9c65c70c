"""Partition lifetimes: which partitions expire, what is dropped, and that nothing is left where nothing has expired."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from pyhudi.errors import CorruptTableError, OptionError, UsageError
from pyhudi.kernels.base_file.partition_folder import read_partition_metafile
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.instant import Action
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.invariants import garbage
from pyhudi.timeline.instant_details import read_commit
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.table.tables import files_of, make_table, ride, rows_of

DAYS = "hoodie.partition.ttl.strategy.days.retain"
STRATEGY = "hoodie.partition.ttl.management.strategy.type"
INLINE = {"hoodie.partition.ttl.inline": "true"}
NOT_INLINE = {"hoodie.compact.inline": "false"}


@dataclass(frozen=True)
class At:
    """A clock that says a day of 2026."""

    day: int

    def now(self) -> datetime:
        return datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=self.day)


def at(storage: Storage, day: int) -> HudiTable:
    return HudiTable(storage, clock=At(day))


def table_of_years(version: int = 9, table_type: str = "COPY_ON_WRITE") -> Storage:
    """A table with the partition oslo of day 0, rome of day 10 and bern of day 20; oslo was updated on day 15."""
    storage = MemoryStorage()
    make_table(storage, partition_by=["city"], table_type=table_type, options={"hoodie.write.table.version": str(version)})
    for day, city in ((0, "oslo"), (10, "rome"), (15, "oslo"), (20, "bern")):
        at(storage, day).upsert([ride(day % 15, city, day)], options=NOT_INLINE)
    return storage


@pytest.mark.parametrize("version", [9, 8, 6])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_partitions_expire_by_their_last_write_or_their_creation(version: int, table_type: str) -> None:
    storage = table_of_years(version, table_type)
    services = at(storage, 31).services
    assert [one.path for one in services.ttl(options={DAYS: "20"}, dry_run=True).partitions] == ["rome"]
    assert [one.path for one in services.ttl(options={DAYS: "12"}, dry_run=True).partitions] == ["rome", "oslo"]
    by_creation = {DAYS: "20", STRATEGY: "KEEP_BY_CREATION_TIME"}
    assert [one.path for one in services.ttl(options=by_creation, dry_run=True).partitions] == ["oslo", "rome"]
    done = services.ttl(options={DAYS: "20"})
    assert (done.state, [one.path for one in done.partitions]) == ("completed", ["rome"])
    assert {row["city"] for row in rows_of(HudiTable(storage))} == {"oslo", "bern"}
    assert services.ttl(options={DAYS: "20"}).state == "nothing to do"
    assert garbage(storage) == []


def test_creation_is_read_from_metafiles_of_either_format() -> None:
    storage = table_of_years()
    by_creation = {DAYS: "20", STRATEGY: "KEEP_BY_CREATION_TIME"}
    at(storage, 31).services.migrate_partition_metafiles()
    assert [one.path for one in at(storage, 31).services.ttl(options=by_creation, dry_run=True).partitions] == ["oslo", "rome"]
    name = "rome/.hoodie_partition_metadata.parquet"
    data = storage.read(name)
    storage.delete(name)
    storage.create(name, data[:40])
    with pytest.raises(CorruptTableError, match="rome"):
        read_partition_metafile(storage, "rome")
    assert [one.path for one in at(storage, 31).services.ttl(options=by_creation, dry_run=True).partitions] == ["oslo"]


@pytest.mark.parametrize("days", [24, 25, 49, 50, 400, 100_000])
def test_days_of_any_size_are_days(days: int) -> None:
    storage = MemoryStorage()
    make_table(storage, partition_by=["city"])
    at(storage, 0).upsert([ride(1)])
    before, after = at(storage, days).services, at(storage, days + 1).services
    assert before.ttl(options={DAYS: str(days)}, dry_run=True).partitions == ()
    assert [one.path for one in after.ttl(options={DAYS: str(days)}, dry_run=True).partitions] == ["oslo"]


def test_nothing_is_left_where_nothing_has_expired() -> None:
    storage = table_of_years()
    before = files_of(storage)
    assert at(storage, 31).services.ttl(options={DAYS: "300"}).state == "nothing to do"
    assert at(storage, 31).services.ttl(options={DAYS: "1"}, dry_run=True).state == "planned"
    assert files_of(storage) == before


def test_expired_partitions_are_dropped_by_one_delete_of_partitions() -> None:
    storage = table_of_years()
    done = at(storage, 400).services.ttl(options={DAYS: "30"})
    table = HudiTable(storage)
    timeline = load_timeline(storage, table.config)
    last = timeline.data_instants()[-1]
    metadata = read_commit(storage, table.config, last)
    assert (last.requested, last.action, metadata.operation) == (done.instant, Action.REPLACE_COMMIT, Operation.DELETE_PARTITION)
    assert {path: len(ids) for path, ids in (metadata.replaced or {}).items()} == {"oslo": 1, "rome": 1, "bern": 1}
    assert rows_of(table) == []
    assert timeline.pending() == ()


def test_selection_and_cap_take_the_oldest_of_what_is_named() -> None:
    storage = table_of_years()
    services = at(storage, 400).services

    def expired(**options: str) -> list[str]:
        prefix = "hoodie.partition.ttl.strategy."
        stated = {DAYS: "30", **{prefix + name.replace("_", "."): value for name, value in options.items()}}
        return [one.path for one in services.ttl(options=stated, dry_run=True).partitions]

    assert expired() == ["rome", "oslo", "bern"]
    assert expired(max_delete_partitions="2") == ["rome", "oslo"]
    assert expired(partition_selected="bern, oslo, lima") == ["oslo", "bern"]
    by_class = {"class": "org.apache.hudi.table.action.ttl.strategy.KeepByCreationTimeStrategy"}
    assert expired(**by_class) == ["oslo", "rome", "bern"]


def test_partition_under_a_pending_compaction_is_held_back() -> None:
    storage = table_of_years(table_type="MERGE_ON_READ")
    at(storage, 30).services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
    done = at(storage, 400).services.ttl(options={DAYS: "30"})
    assert done.held_back == ("oslo",)
    assert [one.path for one in done.partitions] == ["rome", "bern"]
    assert {row["city"] for row in rows_of(HudiTable(storage))} == {"oslo"}


def test_write_drops_what_has_expired_when_its_options_say_so() -> None:
    storage = table_of_years()
    at(storage, 400).upsert([ride(9, "lima")], options={**INLINE, DAYS: "30"})
    assert rows_of(HudiTable(storage)) == [ride(9, "lima")]
    before = len(load_timeline(storage, HudiTable(storage).config).instants)
    at(storage, 401).upsert([ride(9, "lima")], options={**INLINE, DAYS: "30"})
    assert len(load_timeline(storage, HudiTable(storage).config).instants) == before + 1


def test_unknown_strategies_and_missing_days_are_refused_before_anything_is_written() -> None:
    storage = table_of_years()
    before = files_of(storage)
    for stated in ({STRATEGY: "KEEP_FOR_EVER"}, {"hoodie.partition.ttl.strategy.class": "com.acme.Mine"}):
        with pytest.raises(OptionError, match=r"KEEP_BY_TIME|KeepByTimeStrategy"):
            at(storage, 400).upsert([ride(9)], options={**INLINE, DAYS: "30", **stated})
        with pytest.raises(OptionError, match=r"KEEP_BY_TIME|KeepByTimeStrategy"):
            at(storage, 400).services.ttl(options={DAYS: "30", **stated})
    with pytest.raises(OptionError, match=r"days.retain is -1: say after how many days"):
        at(storage, 400).services.ttl()
    assert files_of(storage) == before
    with pytest.raises(UsageError, match="has no partition fields"):
        make_table().services.ttl(options={DAYS: "30"})


def test_metadata_table_knows_that_the_partitions_are_missing() -> None:
    storage = MemoryStorage()
    make_table(storage, partition_by=["city"])
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
    at(storage, 0).upsert([ride(1, "oslo")], options=options)
    at(storage, 30).upsert([ride(2, "rome")], options=options)
    at(storage, 31).services.ttl(options={DAYS: "20"})
    at(storage, 32).upsert([ride(1, "rome")], options=options)
    assert rows_of(HudiTable(storage)) == [ride(1, "rome"), ride(2, "rome")]
    assert [row for row in HudiTable(storage).inspect.health().to_pylist() if row["check"] != "nothing pending"] == []
