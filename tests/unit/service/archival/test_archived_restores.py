"""A restore leaves the timeline as the rollback that it was, an index build altogether; an upgrade takes those that an archival would."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.actions.rollback_codec import decode_restore_metadata
from pyhudi.service.archival import move_to_archive
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.instant import Action
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_action_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.int64()})
ARCHIVED = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
QUIET = {
    "hoodie.metadata.enable": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.clean.commits.retained": "1",
}


def make(path: Path, version: int = 9, kind: str = "MERGE_ON_READ") -> HudiTable:
    """A table that was restored after its first commit and written six times since; nothing is archived."""
    created = {"hoodie.write.table.version": str(version)}
    table = HudiTable.create(path / "t", SCHEMA, name="t", keys=["id"], table_type=kind, options=created)
    write(table, 0)
    saved = table.services.savepoint()
    write(table, 1)
    write(table, 2)
    table.services.restore(to=saved.instant)
    table.services.delete_savepoint(saved.instant)
    for number in range(6):
        write(table, number)
    return table


def write(table: HudiTable, number: int) -> None:
    table.upsert([{"id": number % 2, "v": number}], options=QUIET)


def archive(table: HudiTable) -> None:
    table.services.archive(options=QUIET | ARCHIVED)


def actions(table: HudiTable, name: str) -> list[str]:
    return [row["action"] for row in table.history().to_pylist() if row["action"] == name]


def active(table: HudiTable) -> list[str]:
    folder = Path(str(table.storage.uri).removeprefix("file://")) / table.config.timeline_path
    return [file.name for file in folder.glob("*.restore*")]


def test_archived_restore_says_what_it_rolled_back(tmp_path: Path) -> None:
    table = make(tmp_path)
    (file,) = (tmp_path / "t" / ".hoodie" / "timeline").glob("*.restore")
    before = decode_restore_metadata(file.read_bytes())
    rows = table.to_arrow().sort_by("id").to_pylist()
    archive(table)
    assert active(table) == []
    table = HudiTable.open(tmp_path / "t")
    timeline = load_full_timeline(table.storage, table.config).with_archived()
    (restored,) = [one for one in timeline.completed() if one.requested == before.start]
    after = load_action_metadata(table.storage, table.config, timeline, restored)
    assert isinstance(after, RollbackMetadata)
    assert (restored.action, after.commits, after.instants) == ("rollback", before.rolled_back, before.instants)
    assert len(after.commits) == 2
    deleted = [path for listed in before.rollbacks.values() for one in listed for path in one.partitions[""].deleted]
    assert sorted(after.partitions[""].deleted) == sorted(deleted)
    assert after.files_deleted == len(deleted)
    assert table.to_arrow().sort_by("id").to_pylist() == rows
    assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


def cut(*_: object) -> None:
    raise KeyboardInterrupt


def test_archival_that_was_cut_before_the_restore_was_deleted_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make(tmp_path)
    monkeypatch.setattr(move_to_archive, "_delete", cut)
    with pytest.raises(KeyboardInterrupt):
        archive(table)
    monkeypatch.undo()
    assert len(active(table)) == 3
    archive(HudiTable.open(tmp_path / "t"))
    assert active(table) == []
    table = HudiTable.open(tmp_path / "t")
    archived = [done.instant.action for done in archived_instants(table.storage, table.config, read_rows)]
    assert archived.count(Action.ROLLBACK) == 1


@pytest.mark.parametrize("kind", ["MERGE_ON_READ", "COPY_ON_WRITE"])
def test_upgrade_takes_the_restores_that_archival_would_have_taken(kind: str, tmp_path: Path) -> None:
    table = make(tmp_path, 6, kind)
    archive(table)
    assert len(active(table)) == 3
    rows = table.to_arrow().sort_by("id").to_pylist()
    table.services.upgrade(9)
    table = HudiTable.open(tmp_path / "t")
    is_archived = kind == "MERGE_ON_READ"
    assert (len(active(table)), len(actions(table, "rollback"))) == ((0, 1) if is_archived else (3, 0))
    assert table.to_arrow().sort_by("id").to_pylist() == rows
    table.services.downgrade(6)
    table = HudiTable.open(tmp_path / "t")
    assert len(actions(table, "rollback")) == is_archived
    assert table.to_arrow().sort_by("id").to_pylist() == rows
