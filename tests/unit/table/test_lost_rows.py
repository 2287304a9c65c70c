"""A data file that is lost is an error by whatever view, before and after a rebuild; health names what earlier writes overlooked."""

from __future__ import annotations

from functools import cache

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.fsview import committed_sizes as stated
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import files_of, make_table, ride, rows_of

CASES = [(version, kind) for version in ("6", "8", "9") for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")]
BY_LISTING = {"hoodie.metadata.enable": "false"}


@cache
def written(version: str, kind: str) -> MemoryStorage:
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"], table_type=kind, options={"hoodie.write.table.version": version})
    table.insert([ride(number, "oslo") for number in range(4)] + [ride(9, "rome")])
    for turn in (1, 2):
        table.upsert([ride(number, "oslo", turn) for number in range(4)])
    return storage


def newest(storage: MemoryStorage, folder: str = "oslo") -> str:
    """The file that the last upsert wrote: a base file, or a log file."""
    logs = sorted(path for path in files_of(storage, folder) if ".log." in path)
    return (
        logs[-1] if logs else max(files_of(storage, folder), key=lambda path: path.rpartition("_")[2] if path.endswith("parquet") else "")
    )


@pytest.mark.parametrize(("version", "kind"), CASES)
@pytest.mark.parametrize("how", ["gone", "empty"])
def test_lost_file_is_an_error_by_listing_too(version, kind, how) -> None:
    storage = written(version, kind).copy()
    path = newest(storage)
    storage.delete(path)
    if how == "empty":
        storage.create(path, b"")
    for options in ({}, BY_LISTING):
        with pytest.raises(CorruptTableError, match=path):
            HudiTable(storage).to_arrow(options=options)
    assert HudiTable(storage).to_arrow(filter="city = 'rome'", options=BY_LISTING).num_rows == 1
    if kind == "COPY_ON_WRITE":  # who appends a log file reads none
        with pytest.raises(CorruptTableError, match=path):
            HudiTable(storage).upsert([ride(1, "oslo", 7)])
    assert any(path in one["subject"] for one in HudiTable(storage).inspect.health().to_pylist())


@pytest.mark.parametrize(("version", "kind"), CASES)
def test_rebuild_does_not_forget_a_lost_file(version, kind, caplog) -> None:
    storage = written(version, kind).copy()
    path = newest(storage)
    storage.delete(path)
    table = HudiTable(storage)
    if kind == "MERGE_ON_READ":  # of a base file the rebuild wants the footer
        table.services.index(rebuild=True)
        assert path in caplog.text
    for options in ({}, BY_LISTING):
        with pytest.raises(CorruptTableError, match=path):
            table.to_arrow(options=options)
    assert any(path in one["subject"] for one in table.inspect.health().to_pylist())


@pytest.mark.parametrize("version", ["6", "8", "9"])
def test_compaction_does_not_make_a_loss_permanent(version) -> None:
    storage = written(version, "MERGE_ON_READ").copy()
    path = newest(storage)
    storage.replace(path, b"")
    table = HudiTable(storage)
    with pytest.raises(CorruptTableError, match=path):
        table.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
    with pytest.raises(CorruptTableError, match=path):
        table.to_arrow()


def test_lost_partition_is_an_error(caplog) -> None:
    storage = written("9", "COPY_ON_WRITE").copy()
    storage.delete_tree("rome")
    for options in ({}, BY_LISTING):
        with pytest.raises(CorruptTableError, match="rome/"):
            HudiTable(storage).to_arrow(options=options)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_health_names_what_a_writer_overlooked(kind, monkeypatch) -> None:
    """A writer that does not look, as those of before and others do, builds on what is left; then the file comes back."""
    storage = written("9", kind).copy()
    HudiTable(storage).upsert([ride(9, "rome", 5)], BY_LISTING)
    path = newest(storage)
    content = storage.read(path)
    storage.delete(path)
    with monkeypatch.context() as careless:
        careless.setattr(stated, "differences", lambda *_: ())
        table = HudiTable(storage)
        table.upsert([ride(1, "oslo", 7)], BY_LISTING)
        if kind == "MERGE_ON_READ":
            table.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
    storage.create(path, content)
    assert rows_of(table) != rows_of(HudiTable(written("9", kind)))
    matches = [one for one in table.inspect.health().to_pylist() if one["check"] == "later writes took up all rows"]
    assert matches, table.inspect.health().to_pylist()
    assert "are lost" in matches[0]["problem"]


@pytest.mark.parametrize(("version", "kind"), CASES)
def test_nothing_is_found_in_tables_that_are_well(version, kind) -> None:
    table = HudiTable(written(version, kind).copy())
    if kind == "MERGE_ON_READ":
        table.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
        table.upsert([ride(2, "oslo", 5)])
    table.overwrite([ride(9, "rome", 1)])
    assert table.inspect.health().to_pylist() == []
    assert table.inspect.verify().to_pylist() == []
    assert rows_of(table) == table.to_arrow(options=BY_LISTING).sort_by("id").to_pylist()
