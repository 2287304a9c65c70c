"""A rewrite that copies row groups as bytes, cut at every storage call: the old rows or the new ones, and the next write recovers."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from pyhudi.kernels.base_file import stored_groups
from pyhudi.kernels.tasks.splicing_writer import SplicingFileWriter
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.crash_points import crash_points
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import DRIVER, ride
from tests.unit.crash.test_cut_writes import Write, check_answer, check_recovery

#: Some ten row groups for a file of sixty rows.
SMALL_GROUPS = dataclasses.replace(DRIVER, written_with={"hoodie.parquet.block.size": "1000"})
STORED = [ride(number, "oslo", number) for number in range(60)]
WRITES: dict[str, Write] = {
    "upsert": (Operation.UPSERT, [ride(31, "oslo", 99), ride(100, "oslo", 100)]),
    "delete": (Operation.DELETE, [ride(31, "oslo", 0)]),
}


@pytest.mark.parametrize("name", ["upsert", pytest.param("delete", marks=pytest.mark.slow)])
def test_rewrite_that_copies_row_groups_cut_anywhere_is_whole_or_not_at_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_groups, "COPIED_FILE_BYTES", 0)
    copied: list[int] = []
    copy_group = SplicingFileWriter.copy_group

    def count(writer: SplicingFileWriter, number: int, keys: pa.ChunkedArray) -> None:
        copied.append(number)
        copy_group(writer, number, keys)

    monkeypatch.setattr(SplicingFileWriter, "copy_group", count)
    storage = MemoryStorage()
    DRIVER.create(storage)
    SMALL_GROUPS.write(storage, Operation.INSERT, STORED)
    before = Oracle("id", "city").after(Operation.INSERT, STORED)
    after = before.after(*WRITES[name])
    for run in crash_points(lambda cut: SMALL_GROUPS.write(cut, *WRITES[name]), storage.copy):
        check_recovery(run, check_answer(run, before, after))
    assert len(copied) > 5, "row groups are copied"
