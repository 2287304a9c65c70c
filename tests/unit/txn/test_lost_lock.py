"""A writer whose lock file was deleted or replaced does not complete: another one may hold the new file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from tests.unit.table.tables import make_table, ride, rows_of


class _Loses(InterceptedStorage):
    """Loses the table's lock file when a data file is opened."""

    def __init__(self, inner: LocalStorage, lose) -> None:
        super().__init__(inner)
        self.lose = lose

    def _pass(self, call: Call, effect, torn=None):
        if call.method == "open_output" and not call.path.startswith(".hoodie"):
            self.lose()
        return effect()


def _delete(table: Path) -> None:
    shutil.rmtree(table / ".hoodie" / ".locks")


def _move(table: Path) -> None:
    (table / ".hoodie" / ".locks").rename(table / ".hoodie" / ".locks.old")


def _replace(table: Path) -> None:
    (lock,) = (path for path in (table / ".hoodie" / ".locks").iterdir() if path.suffix == ".lock" or path.is_file())
    lock.unlink()
    lock.touch()


@pytest.mark.parametrize("lose", [_delete, _move, _replace])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_nothing_is_visible_of_a_write_that_lost_its_lock(tmp_path: Path, kind: str, lose) -> None:
    storage = LocalStorage(str(tmp_path / "t"))
    table = make_table(storage, table_type=kind)
    table.upsert([ride(1)])
    before = rows_of(table)
    with pytest.raises(ConflictError, match="lock file of table"):
        HudiTable(_Loses(storage, lambda: lose(tmp_path / "t"))).upsert([ride(1, value=2), ride(2)])
    assert rows_of(HudiTable(storage)) == before
    HudiTable(storage).upsert([ride(3)])
    assert [row["id"] for row in rows_of(HudiTable(storage))] == [1, 3]


def test_a_lost_lock_leaves_pending_instants_to_the_next_writer(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path / "t"))
    make_table(storage).upsert([ride(1)])
    with pytest.raises(ConflictError):
        HudiTable(_Loses(storage, lambda: _delete(tmp_path / "t"))).upsert([ride(2)])
    assert [path for path in (tmp_path / "t" / ".hoodie" / "timeline").iterdir() if path.suffix == ".inflight"]
