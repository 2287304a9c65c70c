"""One step resolves the index of a write for both engines: by the options, the layout of the table, and what is looked up."""

from __future__ import annotations

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.index.index_options import index_options
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.resolve_index import BatchKeys, ResolvedIndex, expected_index, resolve_index
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.spec.options import resolve
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.write_pipeline import state_before
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.locked_table import LockedTable, table_state
from pyhudi.write.input.prepare_rows import record_context
from tests.unit.table.tables import make_table, ride

RECORDS = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}


def resolved(table: HudiTable, keys: int, *, by_join: bool, options: dict[str, str] | None = None) -> ResolvedIndex:
    state = table_state(table.storage, SystemClock(), SystemIds())
    view = open_view(state.storage, state.config, state.timeline)
    stored, latest = state_before(state)
    lookup = LookupContext(state.storage, view, LocalEngine(), record_context(stored, state.config))
    batch = BatchKeys(lambda: keys, view.partition_paths(), by_join=by_join)
    return resolve_index(index_options(resolve(options or {})), lookup, latest, batch)


@pytest.mark.parametrize(
    ("keys", "by_join", "index", "reason"),
    [
        (100, False, "RECORD_LEVEL_INDEX", "the metadata table has a record index"),
        (101, False, "SIMPLE", "reading keys is cheaper than asking it"),
        (100, True, "RECORD_LEVEL_INDEX", "Spark's tasks ask its file groups"),
        (101, True, "SIMPLE", "Spark's tasks find keys by a join with those of the files"),
    ],
)
def test_a_record_index_that_nobody_named_is_asked_for_few_keys(keys: int, by_join: bool, index: str, reason: str) -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(9)], options=RECORDS)
    answer = resolved(table, keys, by_join=by_join)
    assert answer.index.name == index
    assert answer.reason.endswith(reason)


@pytest.mark.parametrize("by_join", [False, True])
def test_an_index_that_options_name_is_taken_whatever_it_costs(by_join: bool) -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(9)], options=RECORDS)
    answer = resolved(table, 1_000_000, by_join=by_join, options={"hoodie.index.type": "RECORD_LEVEL_INDEX"})
    assert answer.index.name == "RECORD_LEVEL_INDEX"
    assert answer.reason.startswith("hoodie.index.type names it")


@pytest.mark.parametrize("by_join", [False, True])
def test_a_table_of_buckets_is_written_by_buckets_and_nothing_is_counted(by_join: bool) -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(9)], options=BUCKET)
    answer = resolved(table, 1, by_join=by_join)
    assert answer.layout is answer.index
    assert answer.reason == "the file groups of the table are buckets"


def test_what_options_and_properties_speak_for_is_told_without_a_look_at_files() -> None:
    table = make_table()
    settings = index_options(resolve({}))
    assert expected_index(settings, table.config) == "SIMPLE"
    assert expected_index(index_options(resolve(BUCKET)), table.config) == "BUCKET"
    table.upsert([ride(1)], options=RECORDS)
    assert expected_index(settings, HudiTable(table.storage).config) == "RECORD_LEVEL_INDEX"


def test_a_table_that_is_only_looked_at_cannot_be_written() -> None:
    table = make_table()
    state = table_state(table.storage, SystemClock(), SystemIds())
    assert not isinstance(state, LockedTable)
    assert not hasattr(state, "writer")
