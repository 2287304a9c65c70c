"""Cleans that were interrupted, plans that are damaged, and cleans during other actions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.codec.actions.clean_codec import decode_clean_metadata, decode_clean_plan, encode_clean_plan
from pyhudi.errors import ConflictError, CorruptTableError
from pyhudi.service import service_executor
from pyhudi.service.cleaning import execute_clean, inline_cleaning
from pyhudi.spec.actions.clean import CleanPlan
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.workers import wait_for_background
from tests.unit.crash.tables import SCHEMA
from tests.unit.service.cleaning.clean_tables import TIMELINE, clean, cleans, files, metadata_agrees, new_table, upsert


def test_pending_plan_is_finished_by_the_next_clean() -> None:
    table = new_table(MemoryStorage())
    for value in range(5):
        upsert(table, value)
    clean(table, commits__retained="1")
    written = {one.name.partition(".")[2]: one.path for one in table.storage.list(TIMELINE) if "clean" in one.name}
    plan = decode_clean_plan(table.storage.read(written["clean.requested"]))
    assert plan.policy == "KEEP_LATEST_COMMITS"
    table.storage.delete(written["clean"])
    assert [one["state"] for one in cleans(table)] == ["inflight"]
    upsert(table, 5, hoodie__clean__automatic="true")
    assert [one["state"] for one in cleans(table)] == ["completed"]
    metadata_agrees(table)


def test_empty_files_of_a_dead_cleaner_are_removed_and_the_plan_is_run_again() -> None:
    table = new_table(MemoryStorage())
    for value in range(5):
        upsert(table, value)
    clean(table, commits__retained="1")
    done = next(one.path for one in table.storage.list(TIMELINE) if one.name.endswith(".clean"))
    written = decode_clean_metadata(table.storage.read(done))
    table.storage.replace(done, b"")
    upsert(table, 5)
    assert clean(table, commits__retained="1") == [written.files_deleted, 1]
    metadata_agrees(table)


@pytest.mark.parametrize(
    "named", ["/elsewhere/rome/a_0-0-0_20250101000000000.parquet", "oslo/../secret", "oslo/keys.txt", ".hoodie/hoodie.properties"]
)
def test_plan_that_names_other_files_is_refused(named: str) -> None:
    table = new_table(MemoryStorage())
    upsert(table, 1)
    plan = CleanPlan("KEEP_LATEST_COMMITS", files={"oslo": (named,)})
    table.storage.create(f"{TIMELINE}/20270101000000000.clean.requested", encode_clean_plan(plan, sync=bytes(16)))
    with pytest.raises(CorruptTableError, match="no data file of partition"):
        clean(table)
    assert table.count() == 1


def test_plan_that_names_files_in_use_is_refused() -> None:
    table = new_table(MemoryStorage())
    upsert(table, 1)
    (name,) = files(table.storage)
    plan = CleanPlan("KEEP_LATEST_COMMITS", files={"oslo": (f"/somewhere/oslo/{name}",)})
    table.storage.create(f"{TIMELINE}/20270101000000000.clean.requested", encode_clean_plan(plan, sync=bytes(16)))
    with pytest.raises(CorruptTableError, match="which readers need"):
        clean(table)
    assert table.count() == 1


def test_plan_that_is_older_than_a_savepoint_of_its_files_is_refused() -> None:
    """Apache Hudi creates savepoints while a clean is pending."""
    table = new_table(MemoryStorage())
    for value in range(3):
        upsert(table, value)
    first = table.history()["requested"][0].as_py()
    (name,) = (name for name in files(table.storage) if first in name)
    table.services.savepoint(first)
    plan = CleanPlan("KEEP_LATEST_COMMITS", files={"oslo": (f"/somewhere/oslo/{name}",)})
    path = f"{TIMELINE}/20270101000000000.clean.requested"
    table.storage.create(path, encode_clean_plan(plan, sync=bytes(16)))
    with pytest.raises(CorruptTableError, match=r"which a savepoint retains: .* the next clean plans again"):
        clean(table)
    table.storage.delete(path)
    clean(table, commits__retained="1")
    assert table.count(as_of=first) == 1
    assert name in files(table.storage)


def test_pending_action_holds_cleaning_up() -> None:
    table = new_table(MemoryStorage(), table_type="MERGE_ON_READ")
    for value in range(3):
        upsert(table, value, hoodie__compact__inline="true", hoodie__compact__inline__max__delta__commits="1")
    table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
    upsert(table, 3)
    table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
    before = table.to_arrow()["value"].to_pylist()
    clean(table, commits__retained="1")
    clean(table, fileversions__retained="1")
    assert table.to_arrow()["value"].to_pylist() == before
    table.services.compact(mode="execute")
    assert table.to_arrow()["value"].to_pylist() == before
    metadata_agrees(table)


def test_two_cleans_at_a_time_are_refused() -> None:
    table = new_table(MemoryStorage())
    for value in range(4):
        upsert(table, value)
    with table.storage.lock(0, "clean"), pytest.raises(ConflictError, match="cleaning"):
        clean(table, commits__retained="1")


def test_a_clean_in_the_background_is_waited_for_at_the_end_of_the_process() -> None:
    table = new_table(MemoryStorage())
    for value in range(6):
        upsert(table, value)
    upsert(table, 6, hoodie__clean__automatic="true", hoodie__clean__async__enabled="true", hoodie__clean__commits__retained="1")
    wait_for_background()
    assert [one["state"] for one in cleans(table)] == ["completed"]
    assert len(files(table.storage)) == 2
    metadata_agrees(table)


def test_a_clean_before_a_write_when_options_ask_for_it() -> None:
    table = new_table(MemoryStorage())
    for value in range(6):
        upsert(table, value)
    upsert(table, 6, hoodie__prewrite__cleaner__policy="clean", hoodie__clean__commits__retained="1")
    assert len(files(table.storage)) == 3


def test_archival_leaves_what_cleaning_retains() -> None:
    table = new_table(MemoryStorage())
    limits = {
        "hoodie.keep.min.commits": "2",
        "hoodie.keep.max.commits": "3",
        "hoodie.clean.commits.retained": "5",
        "hoodie.metadata.enable": "false",
    }
    for value in range(12):
        rows = pa.Table.from_pylist([{"id": 1, "city": "oslo", "value": value}], schema=SCHEMA)
        table.upsert(rows, options=limits)
    active = [one for one in table.storage.list(TIMELINE) if one.name.endswith(".commit")]
    assert 6 <= len(active) <= 7
    assert len(files(table.storage)) == 6


def test_a_plan_of_many_files_is_deleted_while_writers_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline_cleaning, "_FEW", 1)
    table = new_table(MemoryStorage())
    for value in range(6):
        upsert(table, value)
    upsert(table, 6, hoodie__clean__automatic="true", hoodie__clean__commits__retained="1")
    assert len(files(table.storage)) == 2
    metadata_agrees(table)


@pytest.mark.parametrize("meanwhile", ["nothing", "write", "savepoint", "clean of another plan"])
def test_a_plan_is_held_against_the_table_unless_nothing_happened_since_it_was_made(
    meanwhile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(MemoryStorage())
    for value in range(6):
        upsert(table, value)
    held: list[str] = []
    check, schedule = execute_clean._check_not_needed, service_executor._schedule

    def checked(*given: Any) -> None:
        held.append(given[1].requested)
        check(*given)

    def scheduled(*given: Any) -> Any:
        made = schedule(*given)
        if meanwhile == "write":
            upsert(table, 6)
        elif meanwhile == "savepoint":
            table.services.savepoint()
        elif meanwhile == "clean of another plan":
            assert made is not None
            path = f"{TIMELINE}/{made.instant.requested}.clean.requested"
            plan = decode_clean_plan(table.storage.read(path))
            table.storage.replace(path, encode_clean_plan(replace(plan, files={"oslo": plan.files["oslo"][:1]}), sync=bytes(16)))
        return made

    monkeypatch.setattr(execute_clean, "_check_not_needed", checked)
    monkeypatch.setattr(service_executor, "_schedule", scheduled)
    before = files(table.storage)
    clean(table, commits__retained="1")
    assert len(held) == (meanwhile != "nothing")
    assert len(files(table.storage)) < len(before)
    metadata_agrees(table)
