"""A restore that builds the metadata table again takes the statistics of remaining files from the one before, as far as these hold."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pyhudi.metadata_table.format.index_definitions import IndexDefinition, load_definitions
from pyhudi.metadata_table.format.record import ColumnStats
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.write.input.alter_columns import AddColumn, RenameColumn, RetypeColumn
from tests.unit.metadata_table.replays import metadata_table
from tests.unit.service.restore.kinds import EACH_KIND, KINDS, Kind
from tests.unit.table.tables import make_table, ride, rows_of

COMPACTED = {"hoodie.metadata.compact.max.delta.commits": "1", "hoodie.parquet.small.file.limit": "0"}
ON_READ = {**COMPACTED, "hoodie.schema.on.read.enable": "true"}
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int32(), "at": pa.int64()})
CHANGES = {
    "added": AddColumn(("more",), pa.int32()),
    "renamed": RenameColumn(("value",), "worth"),
    "widened": RetypeColumn(("value",), pa.int64()),
}


class OpenedFiles(InterceptedStorage):
    """Records which base files are read, and which folders are listed; `dies` at the first delete of a base file."""

    def __init__(self, inner: Any, *, dies: bool = False) -> None:
        super().__init__(inner)
        self.paths: list[str] = []
        self.listed: list[str] = []
        self._dies = dies

    def _pass(self, call: Call, effect: Any, torn: Any = None) -> Any:
        if call.method == "list":
            self.listed.append(call.path)
        if call.path.endswith(".parquet"):
            if call.method == "delete" and self._dies:
                raise Crashed
            if call.method in ("read", "open_input"):
                self.paths.append(call.path)
        return effect()


def saved_table(kind: Kind = KINDS[0]) -> tuple[HudiTable, str]:
    """A table with a savepoint, and later writes that a compaction of the metadata table has put into its base files."""
    table = kind.table()
    options = {**kind.options, **COMPACTED, "hoodie.metadata.global.record.level.index.enable": "false"}
    table.upsert([ride(1, "oslo"), ride(2, "rome")], options=options)
    table.upsert([ride(1, "oslo", 7)], options=options)
    saved = table.services.savepoint().instant
    for number in range(3):
        table.upsert([ride(2, "rome", number), ride(5 + number, "bern")], options=options)
    return HudiTable(table.storage), saved


def statistics(table: HudiTable) -> dict[tuple[str, str], ColumnStats]:
    columns = ["_hoodie_record_key", "id", "city", "value", "at"]
    return {(stats.file_name, stats.column): stats for stats in metadata_table(table.storage).column_stats(columns)}


def definitions(table: HudiTable) -> dict[str, IndexDefinition]:
    return load_definitions(table.storage, HudiTable(table.storage).config)


def check_true(table: HudiTable) -> None:
    """Health compares the statistics with the footers of all files."""
    assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


@EACH_KIND
def test_remaining_base_files_are_not_opened(kind: Kind) -> None:
    table, saved = saved_table(kind)
    before, storage = statistics(table), OpenedFiles(table.storage)
    assert HudiTable(storage).services.restore(to=saved).metadata_table == "rebuilt"
    assert storage.paths == []
    table = HudiTable(table.storage)
    after = statistics(table)
    assert after
    assert after == {key: before[key] for key in after}
    check_true(table)
    assert rows_of(table) == [ride(1, "oslo", 7), ride(2, "rome")]


def test_build_of_the_metadata_table_lists_each_partition_once() -> None:
    table, _ = saved_table()
    table.upsert([ride(1, "oslo", 8)], options={"hoodie.metadata.enable": "false"})
    storage = OpenedFiles(table.storage)
    HudiTable(storage).upsert([ride(1, "oslo", 9)])
    assert [storage.listed.count(path) for path in ("bern", "rome")] == [1, 1]  # the write itself lists the third


def test_restore_that_died_reads_the_footers_when_it_is_taken_up_again() -> None:
    table, saved = saved_table()
    before = statistics(table)
    with pytest.raises(Crashed):
        HudiTable(OpenedFiles(table.storage, dies=True)).services.restore(to=saved)
    assert HudiTable(table.storage).config.metadata_partitions == ()
    storage = OpenedFiles(table.storage)
    HudiTable(storage).services.restore()
    table = HudiTable(table.storage)
    after = statistics(table)
    assert len({path.rpartition("/")[2] for path in storage.paths}) == len({name for name, _ in after}) == 2
    assert after == {key: before[key] for key in after}
    check_true(table)


@pytest.mark.parametrize("change", CHANGES)
def test_statistics_of_other_columns_or_types_than_the_restored_ones_are_made_anew(change: str) -> None:
    table = make_table(MemoryStorage(), schema=SCHEMA)
    table.insert([ride(1, "oslo", 3), ride(2, "rome", 4)], options=ON_READ)
    saved = table.services.savepoint().instant
    before, defined = statistics(table), definitions(table)
    alter_schema(table, [CHANGES[change]], ON_READ)  # type: ignore[list-item]
    table = HudiTable(table.storage)
    table.insert(pa.Table.from_pylist([{"id": 9, "city": "bern"}], schema=table.schema), options=ON_READ)
    table.services.index(rebuild=True)  # records the statistics of all files as the columns are now
    assert HudiTable(table.storage).services.restore(to=saved).metadata_table == "rebuilt"
    table = HudiTable(table.storage)
    after = statistics(table)
    assert after == before
    assert definitions(table) == defined
    check_true(table)


@pytest.mark.parametrize("damage", ["cells", "record"])
def test_damaged_statistics_are_made_anew(damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, saved = saved_table()
    if damage == "cells":
        folder = ".hoodie/metadata/column_stats"
        for status in table.storage.list(folder):
            if status.name.endswith(".hfile"):
                content = bytearray(table.storage.read(status.path))
                content[100:120] = bytes(20)
                table.storage.replace(status.path, bytes(content))
    else:
        of = "pyhudi.metadata_table.read.stats_columns._Cursors.finish"
        monkeypatch.setattr(of, lambda *_: (_ for _ in ()).throw(ValueError("it is torn")))
    storage = OpenedFiles(table.storage)
    HudiTable(storage).services.restore(to=saved)
    monkeypatch.undo()
    assert storage.paths
    check_true(HudiTable(table.storage))
