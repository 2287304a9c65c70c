"""Data files that no commit names are removed with copies, and restored; no other file is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi.errors import UsageError
from pyhudi.spec.files.file_names import file_and_instant
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.repair.dangling_files import InstantRange, find_dangling_files
from tests.slow_cases import slow_cases
from tests.tables import LANCE, NAMES, unpack
from tests.unit.table.tables import make_table, ride, rows_of

TABLES = [name for name in NAMES if name not in LANCE]
GROUP = "00000000-0000-0000-0000-000000000000-0"
#: Readers list folders where there is no metadata table.
LISTED = {"hoodie.metadata.enable": "false"}
SMALL = {"hoodie.parquet.small.file.limit": "0"}
UNKNOWN = "20991231000000000"
#: Every commit but the last two is archived.
ARCHIVES = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.automatic": "false"}


def base_files(table: HudiTable, folder: str = "") -> list[str]:
    return sorted(file.path for file in table.storage.list(folder) if file_and_instant(file.name) is not None)


def add_copy(table: HudiTable, path: str, *, file_id: str | None = None, instant: str | None = None) -> str:
    """Store a copy of a base file as that of another file group or instant."""
    folder, slash, name = path.rpartition("/")
    group, _, rest = name.partition("_")
    token, _, time = rest.removesuffix(".parquet").partition("_")
    copied = f"{folder}{slash}{file_id or group}_{token}_{instant or time}.parquet"
    with table.storage.open_output(copied) as sink:
        sink.write(table.storage.read(path))
    return copied


def test_files_of_unknown_instants_and_files_that_their_commit_does_not_name_are_removed_and_restored(tmp_path: Path) -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1), ride(2, "rome")], options=LISTED)
    rows = rows_of(table)
    unseen = add_copy(table, base_files(table, "rome")[0], instant=UNKNOWN)
    surplus = add_copy(table, base_files(table, "oslo")[0], file_id=GROUP)
    table.refresh()
    assert len(rows_of(table)) == len(rows) + 1  # a task that outlived its write doubles a row
    before = [*base_files(table, "oslo"), *base_files(table, "rome")]

    planned = table.services.remove_dangling_files(dry_run=True)
    assert (planned.state, planned.files) == ("planned", (surplus, unseen))
    assert [*base_files(table, "oslo"), *base_files(table, "rome")] == before

    backup = str(tmp_path / "copies")
    done = table.services.remove_dangling_files(backup=backup)
    assert (done.state, done.files) == ("completed", (surplus, unseen))
    assert "2 files of" in str(done)
    table.refresh()
    assert rows_of(table) == rows
    assert table.inspect.health().num_rows == 0
    assert table.services.remove_dangling_files().state == "nothing to do"

    restored = table.services.restore_dangling_files(backup)
    assert (restored.state, restored.files) == ("restored", (surplus, unseen))
    assert [*base_files(table, "oslo"), *base_files(table, "rome")] == before
    assert table.services.restore_dangling_files(backup).state == "nothing to do"


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", ["6", "8", "9"])
def test_no_file_of_a_table_is_dangling_whatever_was_done_with_it(kind: str, version: str) -> None:
    table = make_table(table_type=kind, order_by=["at"], options={"hoodie.write.table.version": version})
    table.insert([ride(1), ride(2)])
    second = table.upsert([ride(1, value=5, at=1), ride(3)], options=SMALL)
    table.services.savepoint(second.instant)
    table.delete([ride(2)])
    if kind == "MERGE_ON_READ":
        table.services.compact()
    table.services.cluster()
    for number in range(4, 10):
        table.upsert([ride(number % 3, value=number, at=number)], options=ARCHIVES)
    table.services.archive(options=ARCHIVES)
    assert table.services.remove_dangling_files().state == "nothing to do"
    if version != "9":
        table.services.upgrade()
        table.upsert([ride(1, value=50, at=50)])
        assert table.services.remove_dangling_files().state == "nothing to do"


@pytest.mark.parametrize("name", slow_cases(TABLES, set(TABLES) - set(TABLES[::9])))
def test_no_file_of_a_table_of_apache_hudi_is_dangling(name: str, tmp_path: Path) -> None:
    table = HudiTable.open(unpack(name, tmp_path))
    assert list(find_dangling_files(table.storage, table.config, InstantRange())) == []


def test_files_of_pending_instants_are_left(tmp_path: Path) -> None:
    table = make_table()
    table.upsert([ride(1)])
    pending = add_copy(table, base_files(table)[0], instant=UNKNOWN)
    table.storage.create(f".hoodie/timeline/{UNKNOWN}.commit.requested", b"")
    table.storage.create(f".hoodie/timeline/{UNKNOWN}.inflight", b"")
    assert table.services.remove_dangling_files(backup=str(tmp_path / "copies")).state == "nothing to do"
    assert pending in base_files(table)


@pytest.mark.parametrize("version", ["6", "9"])
def test_of_files_that_readers_see_those_count_whose_time_the_archive_reaches_back_to(version: str, tmp_path: Path) -> None:
    table = make_table(options={"hoodie.write.table.version": version})
    for number in range(8):
        table.insert([ride(number)], options=SMALL | ARCHIVES | LISTED)
    table.services.archive(options=ARCHIVES | LISTED)
    first, *_, last = sorted(one[1] for path in base_files(table) if (one := file_and_instant(path)) is not None)
    rows = rows_of(table)
    older, within = (add_copy(table, base_files(table)[0], file_id=GROUP, instant=f"{int(first) + way}") for way in (-1, 1))
    table.refresh()
    assert len(rows_of(table)) > len(rows)
    assert table.services.remove_dangling_files(start=last).state == "nothing to do"
    assert table.services.remove_dangling_files(end=first).state == "nothing to do"
    done = table.services.remove_dangling_files(start=first[:8], backup=str(tmp_path / "copies"))
    assert done.files == ((within,) if version == "9" else ())  # the archive of version 6 does not tell
    assert older in base_files(table)


def test_bounds_and_folders_that_are_wrong_are_refused(tmp_path: Path) -> None:
    table = make_table()
    table.upsert([ride(1)])
    for bounds, problem in (({"start": "today"}, "start of the instants"), ({"start": "2027", "end": "2026"}, "after their end")):
        with pytest.raises(UsageError, match=problem):
            table.services.remove_dangling_files(**bounds)  # type: ignore[arg-type]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        table.services.remove_dangling_files(backup=str(tmp_path / "full"))
    with pytest.raises(UsageError, match="holds no file"):
        table.services.restore_dangling_files(str(tmp_path / "none"))
