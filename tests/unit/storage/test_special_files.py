"""A named pipe, a device or a folder where a file should be is refused by kind; nothing waits for somebody to write to a pipe."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.storage.local_storage import LocalStorage
from tests.unit.table.tables import SCHEMA, ride


def within(seconds: float, work: Callable[[], Any]) -> None:
    """Do the work on a thread, and fail when it does not come back."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it waits for ever"
    if raised:
        raise raised[0]


def test_pipe_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for read in (LocalStorage(str(tmp_path)).read, LocalStorage(str(tmp_path)).open_input):
        with pytest.raises(CorruptTableError, match=r"'pipe'.*is a named pipe"):
            within(10, lambda read=read: read("pipe"))  # type: ignore[misc]


def test_device_is_refused() -> None:
    with pytest.raises(CorruptTableError, match="'zero' of table /dev is a device"):
        LocalStorage("/dev").read("zero")


def test_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(CorruptTableError, match=r"'folder'.*is a folder"):
        LocalStorage(str(tmp_path)).read("folder")


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_no_file_of_a_table_makes_a_reader_or_a_writer_wait(tmp_path: Path, table_type) -> None:
    """Each file in turn: it is refused, or not needed."""
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type=table_type)
    for turn in range(2):
        table.upsert([ride(number, value=turn) for number in range(3)])
    good = table.to_arrow().sort_by("id")
    files = [path for path in (tmp_path / "t").rglob("*") if path.is_file() and ".locks" not in str(path)]
    assert len(files) > 20
    for path in files:
        content = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        try:
            within(20, partial(read_and_compare, tmp_path / "t", good, path.name))
        finally:
            path.unlink()
            path.write_bytes(content)


def read_and_compare(base: Path, good: Any, name: str) -> None:
    try:
        result = HudiTable.open(base).to_arrow().sort_by("id")
    except HudiError as error:
        result, problem = None, str(error)
    assert result == good if result is not None else name in problem


def make_folder(path: Path) -> None:
    path.mkdir()


def make_link(path: Path) -> None:
    target = path.with_name("target")
    target.write_text("{}")
    path.symlink_to(target)


KINDS: dict[str, Callable[[Path], None]] = {"a folder": make_folder, "a link": make_link, "a named pipe": os.mkfifo}


@pytest.mark.parametrize("version", ["6", "8", "9"])
@pytest.mark.parametrize("kind", KINDS)
def test_completed_commit_that_is_no_file_is_damage_and_no_failed_write(tmp_path: Path, version, kind) -> None:
    """The table has no metadata table and its commits only append to log files: nothing else tells of the newest commit."""
    options = {"hoodie.write.table.version": version}
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ", options=options)
    unlisted = {"hoodie.metadata.enable": "false"}
    for turn in range(2):
        table.upsert([ride(1, value=turn)], unlisted)
    newest = max((tmp_path / "t" / ".hoodie").rglob("*.deltacommit"))
    newest.unlink()
    KINDS[kind](newest)
    for use in (lambda: HudiTable.open(tmp_path / "t").to_arrow(), lambda: table.upsert([ride(2)], unlisted), table.history):
        with pytest.raises(CorruptTableError, match=rf"{newest.name}'.*is {kind}"):
            use()
