"""Records that began in logs are found by indexes that read base files, whoever let them in."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.log_inserts import LogInsertDetector, keys_only_in_logs
from pyhudi.index.rows import PartitionRows
from pyhudi.index.simple_index import PartitionIndex
from pyhudi.kernels.base_file.record_context import record_context_of
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.spec.actions import commit
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.unit.table.tables import make_table, ride, rows_of

OPTIONS = {"hoodie.metadata.enable": "false", "hoodie.compact.inline": "false"}
BUCKET = {**OPTIONS, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"}


def lookup_of(table: HudiTable) -> LookupContext:
    timeline = load_full_timeline(table.storage, table.config)
    context = record_context_of(table.config, table.schema, with_meta_fields(arrow_to_avro(table.schema, "rides")))
    return LookupContext(table.storage, FileSystemView(table.storage, table.config, timeline), LocalEngine(threads=1), context)


def updated_keys(table: HudiTable, keys: list[str]) -> list[str]:
    rows = PartitionRows("", pa.table({"_hoodie_record_key": keys}))
    (tagged,) = PartitionIndex().tag([rows], lookup_of(table))
    return sorted(key for _, part in tagged.updates for key in part["_hoodie_record_key"].to_pylist())


@pytest.fixture(params=["9", "6"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    """Records 1 and 2 are in the base file, 3 and 4 came into the log, 4 was deleted there."""
    table = make_table(table_type="MERGE_ON_READ", options={"hoodie.write.table.version": request.param})
    table.upsert([ride(1), ride(2)], options=BUCKET)
    table.upsert([ride(2, value=1), ride(3), ride(4)], options=BUCKET)
    table.delete([ride(4)], options=BUCKET)
    return table


def test_key_that_only_a_log_holds_is_found_and_one_that_is_deleted_there_is_not(table: HudiTable) -> None:
    assert updated_keys(table, ["1", "2", "3", "4", "5"]) == ["1", "2", "3"]
    lookup = lookup_of(table)
    (file_slice,) = lookup.view.latest_slices("")
    assert keys_only_in_logs(lookup.storage, lookup.context, lookup.view, file_slice).to_pylist() == ["3"]


def test_logs_of_writers_that_do_not_say_where_records_begin_are_looked_into(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "WRITER_KEY", "nobody.writes.this")
    monkeypatch.setattr(commit, "LOG_INSERTS_KEY", "nor.this")
    assert updated_keys(table, ["3", "4"]) == ["3"]


def test_logs_that_begin_no_record_are_not_read() -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.upsert([ride(1)], options=OPTIONS)
    table.upsert([ride(1, value=1)], options=OPTIONS)
    view = lookup_of(table).view
    (file_slice,) = view.latest_slices("")
    assert file_slice.logs
    assert not LogInsertDetector(view).may_begin_records(file_slice)


@pytest.mark.parametrize("version", ["9", "8", "6"])
@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM", "GLOBAL_SIMPLE"])
def test_record_that_came_back_while_its_deletion_was_compacted_is_found(version: str, index: str) -> None:
    table = make_table(table_type="MERGE_ON_READ", options={"hoodie.write.table.version": version})
    options = {**OPTIONS, "hoodie.index.type": index}
    table.upsert([ride(1), ride(2)], options=options)
    table.delete([ride(1)], options=options)
    (planned,) = table.services.compact(mode="schedule")
    table.upsert([ride(1, value=1)], options=options)
    table.services.compact(planned.instant)
    assert table.upsert([ride(1, value=2)], options=options).updated == 1
    assert rows_of(table) == [ride(1, value=2), ride(2)]
    table.delete([ride(1)], options=options)
    assert rows_of(table) == [ride(2)]


def test_logs_that_were_compacted_into_one_are_looked_into() -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.upsert([ride(1), ride(2)], options=BUCKET)
    table.upsert([ride(2, value=1), ride(3)], options=BUCKET)
    table.upsert([ride(2, value=2)], options=BUCKET)
    assert table.services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "2"})
    assert updated_keys(table, ["1", "2", "3", "4"]) == ["1", "2", "3"]
