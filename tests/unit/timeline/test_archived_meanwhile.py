"""A timeline that is archived while its folder is listed hides no row: of an archived action a listing may show only that it began."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyhudi import HudiTable
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.testing.intercepted_storage import InterceptedStorage
from tests.unit.table.tables import make_table, ride, rows_of

QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.metadata.compact.max.delta.commits": "2"}
ARCHIVE = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.automatic": "false"}
PENDING = (".requested", ".inflight")


class ListedMeanwhile(InterceptedStorage):
    """Lets something happen during the first listing of a folder, which shows some of the files that are deleted then."""

    def __init__(self, inner: Storage, folder: str, happens: Callable[[], object], listed_of: Callable[[list[str]], list[str]]) -> None:
        super().__init__(inner)
        self.folder, self.happens, self.listed_of, self.deleted = folder, happens, listed_of, list[str]()

    def list(self, path: str) -> list[FileStatus]:
        before = self.inner.list(path)
        if path != self.folder or self.deleted:
            return before
        self.happens()
        after = {one.path: one for one in self.inner.list(path)}
        self.deleted = sorted(one.name for one in before if one.path not in after)
        listed = self.listed_of(self.deleted)
        return sorted([*after.values(), *(one for one in before if one.name in listed)], key=lambda one: one.path)

    def file_names(self, path: str) -> tuple[str, ...]:
        return tuple(one.name for one in self.list(path) if not one.is_dir)


def beginnings(deleted: list[str]) -> list[str]:
    """What is deleted first was listed first."""
    return [name for name in deleted if name.endswith(PENDING)]


def oldest(deleted: list[str]) -> list[str]:
    """Of the completed files only the first one was listed before it was deleted."""
    return [next(name for name in deleted if not name.endswith(PENDING))]


@pytest.fixture(scope="module", params=["6", "9"])
def copy(request: pytest.FixtureRequest) -> Callable[[str], HudiTable]:
    """Copies of tables whose commits each wrote a partition of their own, so that none of them is superseded."""
    tables = {}
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        version = {"hoodie.write.table.version": request.param}
        table = tables[kind] = make_table(partition_by=["city"], table_type=kind, options=version)
        for number in range(8):
            table.upsert([ride(number, city=f"c{number}")], options=QUIET)

    def copied(kind: str) -> HudiTable:
        storage = tables[kind].storage
        assert isinstance(storage, MemoryStorage)
        return HudiTable(storage.copy())

    return copied


@pytest.mark.parametrize("listed_of", [beginnings, oldest])
@pytest.mark.parametrize("with_files_of", ["listing", "metadata table"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_reader_has_all_rows_while_the_timeline_is_archived(copy, kind: str, with_files_of: str, listed_of) -> None:
    table = copy(kind)
    folder = table.config.timeline_path
    if with_files_of == "metadata table":
        folder = f".hoodie/metadata/{folder}"
    storage = ListedMeanwhile(table.storage, folder, lambda: table.services.archive(options=ARCHIVE), listed_of)
    options = {"hoodie.metadata.enable": str(with_files_of == "metadata table").lower()}
    rows = HudiTable(storage).to_arrow(options=options)
    assert beginnings(storage.deleted)
    assert sorted(rows["id"].to_pylist()) == list(range(8))
    assert len(rows_of(table)) == 8
