"""A reader that was suspended between the timeline and the metadata table, while others wrote and cleaned."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.read.execute import read_slices
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from tests.unit.table.tables import make_table, ride, rows_of

QUIET = {"hoodie.metadata.enable": "true", "hoodie.clean.automatic": "false"}
SMALL = {"hoodie.clean.commits.retained": "1"}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    table = make_table(partition_by=("city",), table_type=request.param)
    table.upsert([ride(1), ride(2, "rome")], QUIET)
    return table


def write_and_clean(table: HudiTable) -> None:
    for value in (1, 2, 3):
        table.overwrite([ride(1, value=value), ride(2, "rome", value)], options=QUIET)
    assert table.services.clean(options=QUIET | SMALL)


def suspended(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None], times: int) -> None:
    """Run something before the next views are opened, so many times."""
    left = [None] * times

    def open_late(*args, **kwargs):
        if left:
            left.pop()
            meanwhile()
        return open_view(*args, **kwargs)

    monkeypatch.setattr("pyhudi.read.snapshot.snapshot.open_view", open_late)


def test_a_read_that_was_overtaken_by_a_clean_begins_again(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    suspended(monkeypatch, lambda: write_and_clean(table), 1)
    assert rows_of(table) == [ride(1, value=3), ride(2, "rome", 3)]
    suspended(monkeypatch, lambda: write_and_clean(table), 1)
    assert table.count() == 2


@pytest.mark.parametrize("change", ["update", "delete", "merge"])
def test_a_change_whose_read_was_overtaken_by_a_clean_begins_again(table: HudiTable, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suspended(monkeypatch, lambda: write_and_clean(table), 1)
    if change == "update":
        assert table.update({"value": "value + 10"}, "id = 1").updated == 1
    elif change == "delete":
        assert table.delete(where="id = 1").deleted == 1
    else:
        assert table.merge([ride(1)]).when_matched_update({"value": "target.value + 10"}).execute().updated == 1
    assert rows_of(table) == [*([] if change == "delete" else [ride(1, value=13)]), ride(2, "rome", 3)]


def test_writes_and_other_actions_do_not_disturb_a_snapshot(table: HudiTable) -> None:
    snapshot = open_snapshot(table.storage, SnapshotQuery())
    table.overwrite([ride(3, value=4)], options=QUIET)
    assert [one.base_instant for one in snapshot.slices("oslo")] == [snapshot.instant]


def test_a_file_that_is_cleaned_before_it_is_opened_makes_a_read_begin_again(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [None]

    def read_late(selection):
        slices = selection.slices()
        if left:
            left.pop()
            write_and_clean(table)
        return pa.Table.from_batches(read_slices(selection, slices), schema=selection.schema)

    monkeypatch.setattr("pyhudi.table.methods.read_methods.read_table", read_late)
    assert rows_of(table) == [ride(1, value=3), ride(2, "rome", 3)]
    assert left == []


def test_a_file_that_is_lost_is_still_damage(table: HudiTable) -> None:
    (name,) = (name for name in table.storage.file_names("oslo") if name.endswith(".parquet"))
    table.storage.delete(f"oslo/{name}")
    with pytest.raises(CorruptTableError, match="is not there"):
        table.to_arrow()
