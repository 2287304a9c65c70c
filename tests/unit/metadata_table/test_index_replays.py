"""Histories of Apache Hudi's tables, recorded again: our indexes of records say what Apache Hudi's say."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.metadata_table.format import cell_blocks
from pyhudi.metadata_table.format.metadata_partitions import RECORD_INDEX, SECONDARY_PREFIX
from pyhudi.metadata_table.format.record import RecordLocation
from pyhudi.metadata_table.read.writer_table import FOLDER, open_writer_table
from pyhudi.metadata_table.services.metadata_compaction import compact_if_due
from pyhudi.storage.local_storage import LocalStorage
from tests.tables import unpack
from tests.unit.metadata_table.replays import contents, prepared, record, replay, sources, timeline_of

HISTORIES = [
    "cow/v9_txns_simple_meta",
    "cow/v9_txns_nonpart_meta",
    "cow/v9_txns_simple_overwrite",
    "mor/avro/v9_txns_simple_meta",
    "mor/avro/v8_trips_8i3u1d",
]
HOUR_MS = 3_600_000


def indexes(storage: LocalStorage) -> dict[str, dict[str, Any]]:
    return {name: result for name, result in contents(storage).items() if name == RECORD_INDEX or name.startswith(SECONDARY_PREFIX)}


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    return {key: (index.partition_path, index.file_id) if isinstance(index, RecordLocation) else index for key, index in result.items()}


@pytest.mark.parametrize("name", HISTORIES)
def test_recorded_history_leads_to_the_same_indexes(tmp_path, name) -> None:
    storage = LocalStorage(str(unpack(name, tmp_path)))
    theirs = indexes(storage)
    assert RECORD_INDEX in theirs
    storage.delete_tree(FOLDER)
    replay(storage)
    ours = indexes(storage)
    assert {index: comparable(result) for index, result in ours.items()} == {index: comparable(result) for index, result in theirs.items()}
    # Times are those of the zone that the table's writer lived in, which the table does not tell.
    lags = {theirs[RECORD_INDEX][key].instant_ms - position.instant_ms for key, position in ours[RECORD_INDEX].items()}
    assert len(lags) == 1
    assert lags.pop() % HOUR_MS == 0


@pytest.mark.parametrize("name", HISTORIES)
def test_index_built_at_the_end_is_the_one_that_was_kept_in_step(tmp_path, name) -> None:
    storage = LocalStorage(str(unpack(name, tmp_path)))
    theirs = indexes(storage)
    storage.delete_tree(FOLDER)
    prepared(storage, timeline_of(storage))
    ours = indexes(storage)
    assert {index: comparable(result) for index, result in ours.items()} == {index: comparable(result) for index, result in theirs.items()}


def test_compaction_of_an_index_with_many_blocks_keeps_each_record(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cell_blocks, "BLOCK_BYTES", 200)  # a few records a block: most are kept, some change
    storage = LocalStorage(str(unpack("cow/v9_txns_nonpart_meta", tmp_path)))
    storage.delete_tree(FOLDER)
    timeline = timeline_of(storage)
    before, last = timeline.data_instants()[-2:]
    prepared(storage, timeline.requested_by(before.requested))
    record(storage, last)
    expected = indexes(storage)
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    assert any(slice_.logs and slice_.base for slice_ in mdt.slices(RECORD_INDEX))
    compact_if_due(mdt, max_delta_commits=1)
    assert indexes(storage) == expected
