"""Log files that a change of version or type leaves behind: no restore and no write undoes what is in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, UnsupportedError, UsageError
from tests.unit.service.upgraded import COMMIT_TIME, QUIET, SCHEMA, make, ride, rows, state


@pytest.mark.parametrize("version", [6, 9])
def test_a_table_that_became_copy_on_write_does_not_go_back_to_log_files(tmp_path: Path, version: int) -> None:
    """Writes of copy-on-write tables read base files alone, and would undo the commits whose rows are in log files."""
    table = make(tmp_path, "MERGE_ON_READ", version)
    times = table.history()["requested"].to_pylist()
    before = state(tmp_path / "t")
    table.services.change_type("COW")
    compaction = table.history()["requested"].to_pylist()[-1]
    actions: list[Callable[..., object]] = [lambda **dry: table.services.restore(times[-1], **dry)]
    actions += [lambda **dry: table.services.rollback(compaction, **dry)]
    for act in actions:
        for dry in ({}, {"dry_run": True}):
            with pytest.raises(UsageError, match=r"is a log file of commit .* table.services.change_type\('MERGE_ON_READ'\)"):
                act(**dry)
    assert state(tmp_path / "t") == before
    table.services.change_type("MOR")
    table.services.restore(times[-1])
    table.upsert([ride(6, 30)], options=QUIET)
    table.services.change_type("COW")
    table.upsert([ride(8, 30)], options=QUIET)
    assert sorted((row["id"], row["ts"]) for row in table.to_arrow().to_pylist()) == [(1, 2), (5, 0), (6, 30), (7, 2), (8, 30)]


@pytest.mark.parametrize("version", [6, 9])
def test_a_copy_on_write_table_with_log_files_is_not_written(tmp_path: Path, version: int) -> None:
    """Restores of Apache Hudi leave such tables. Readers merge the log files; a write of base files alone would undo what is in them."""
    table = make(tmp_path, "MERGE_ON_READ", version)
    for name in ("hoodie.properties", "hoodie.properties.backup"):
        if (file := tmp_path / "t/.hoodie" / name).exists():
            file.write_text(file.read_text().replace("MERGE_ON_READ", "COPY_ON_WRITE"))
    table.inspect.health(fix_properties=True)
    table = HudiTable.open(tmp_path / "t")
    before = rows(table)
    writes: dict[str, Callable[[], object]] = {
        "UPSERT": lambda: table.upsert([ride(5, 30)], options=QUIET),
        "INSERT": lambda: table.insert([ride(9, 30)], options=QUIET),
        "DELETE": lambda: table.delete([{"id": 5, "city": "oslo"}], options=QUIET),
        "UPSERT_PREPPED": lambda: table.update({"v": "7"}, where="id = 5", options=QUIET),
        "change of version": lambda: table.services.upgrade(8) if version == 6 else table.services.downgrade(6),
    }
    for named, write in writes.items():
        with pytest.raises(UnsupportedError, match=rf"{named}.* is refused: .* rows of it are in log file .*change_type\('MERGE_ON_READ'"):
            write()
    assert rows(table) == before
    table.services.change_type("MERGE_ON_READ")
    table.services.change_type("COPY_ON_WRITE")
    table.upsert([ride(9, 30)], options=QUIET)
    assert rows(table) == sorted([*before, repr(ride(9, 30))])


def test_log_files_of_a_planned_clustering_are_named_by_changes_of_version_and_type(tmp_path: Path) -> None:
    """No compaction merges them, so that the table cannot change before the clustering is run or rolled back."""
    table = make(tmp_path, "MERGE_ON_READ", 8)
    (planned,) = table.services.cluster(mode="schedule")
    before = rows(table)
    for change in (lambda: table.services.upgrade(9), lambda: table.services.change_type("COW")):
        with pytest.raises(ConflictError, match=rf"cannot be compacted: clustering {planned.instant} is planned .* try again"):
            change()
    table.services.cluster(planned.instant)
    table.services.upgrade(9)
    assert rows(HudiTable.open(tmp_path / "t")) == before


def test_a_table_that_was_downgraded_does_not_go_back_to_log_files_of_later_versions(tmp_path: Path) -> None:
    """Version 6 names log files for the base file: a new one would come before those of the later version, and be undone by them."""
    table = HudiTable.create(
        tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ", options=COMMIT_TIME
    )
    for number in range(3):
        table.upsert([ride(1, number)], options=QUIET)
    time = table.history()["requested"].to_pylist()[-1]
    table.services.downgrade(6)
    compaction = table.history()["requested"].to_pylist()[-1]
    with pytest.raises(UsageError, match=r"downgraded to version 6 since, and .* Upgrade the table first: table.services.upgrade\(\)"):
        table.services.restore(time)
    with pytest.raises(UsageError, match=r"commit .* cannot be rolled back: the table was downgraded to version 6 since"):
        table.services.rollback(compaction)
    table.services.upgrade()
    table.services.restore(time)
    for version, ts in ((9, 30), (6, 20)):
        if version == 6:
            table.services.downgrade(6)
        table.upsert([ride(1, ts)], options=QUIET)
        assert table.to_arrow()["ts"].to_pylist() == [ts]
    time = table.history()["requested"].to_pylist()[-1]
    table.upsert([ride(1, 25)], options=QUIET)
    table.services.restore(time)
    assert table.to_arrow()["ts"].to_pylist() == [20], "of which log files have names of version 6"


def test_a_restore_to_before_the_upgrade_that_cannot_be_done_changes_nothing(tmp_path: Path) -> None:
    """The commits after the upgrade were rolled back first, and the restore could not come to an end, nor the table be written."""
    table = make(tmp_path, "MERGE_ON_READ")
    time = table.history()["requested"].to_pylist()[0]
    table.services.upgrade()
    table.upsert([ride(1, 30)], options=QUIET)
    before = state(tmp_path / "t"), table.history().to_pylist()
    for dry_run in (True, False):
        with pytest.raises(UnsupportedError, match="was written before the table was upgraded"):
            table.services.restore(time, dry_run=dry_run)
    assert (state(tmp_path / "t"), table.history().to_pylist()) == before
    table.upsert([ride(1, 40)], options=QUIET)
    assert table.to_arrow(filter="id = 1")["ts"].to_pylist() == [40]
