"""A property that keys, paths or rows depend on and that changed silently is noticed before anything is read or written with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.javacompat.properties import parse_properties
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.spec.extra_metadata import IDENTITY_KEY
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_identity import identity_note, identity_of, noted_identity
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.remove_rename import rename_table
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.timeline.load_timeline import load_timeline

SCHEMA = pa.schema([("id", pa.int64()), ("ie", pa.int64()), ("p", pa.string()), ("q", pa.string()), ("ts", pa.int64())])
ROW = {"id": 1, "ie": 2, "p": "a", "q": "b", "ts": 1}
PROPERTIES = ".hoodie/hoodie.properties"


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def path(request, tmp_path) -> Path:
    table = HudiTable.create(
        str(tmp_path / "t"), SCHEMA, name="t", keys=["id"], partition_by=["p"], order_by=["ts"], table_type=request.param
    )
    table.upsert([ROW])
    result: Path = tmp_path / "t"
    return result


def change(path: Path, old: str, new: str) -> None:
    file = path / PROPERTIES
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


CHANGES = {
    "record key": ("recordkey.fields=id", "recordkey.fields=ie", "hoodie.table.recordkey.fields is 'ie' and was 'id'"),
    "its name": ("hoodie.table.recordkey.fields", "xoodie.table.recordkey.fields", "recordkey.fields is 'not set' and was 'id'"),
    "partition field": ("partition.fields=p", "partition.fields=q", "partition.fields is 'q' and was 'p'"),
    "ordering field": ("ordering.fields=ts", "ordering.fields=id", "ordering.fields is 'id' and was 'ts'"),
    "version": ("hoodie.table.version=9", "hoodie.table.version=8", "hoodie.table.version is '8' and was '9'"),
    "archive": (
        "history.path=history",
        "history.path=histori",
        "history.path is '.hoodie/timeline/histori' and was '.hoodie/timeline/history'",
    ),
    "zone": ("timezone=UTC", "timezone=LOCAL", "timezone is 'LOCAL' and was 'UTC'"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_property_is_noticed_by_reads_and_writes(path, name) -> None:
    old, new, expected = CHANGES[name]
    change(path, old, new)
    files = sorted(path.rglob("*"))
    doors = [
        lambda table: table.to_arrow(),
        lambda table: table.upsert([ROW]),
        lambda table: table.delete([{"id": 1, "p": "a"}]),
        lambda table: table.changes(),
        lambda table: table.inspect.health(),
    ]
    for door in doors:
        with pytest.raises(HudiError, match=f"hoodie.properties.*{expected}.*fix_properties=True"):
            door(HudiTable.open(str(path)))
    assert sorted(file for file in path.rglob("*") if ".locks" not in file.parts) == [file for file in files if ".locks" not in file.parts]


def test_type_is_noticed(path) -> None:
    kind = TableConfig(parse_properties((path / PROPERTIES).read_bytes())).table_type
    other = "MERGE_ON_READ" if kind == "COPY_ON_WRITE" else "COPY_ON_WRITE"
    change(path, f"table.type={kind}", f"table.type={other}")
    with pytest.raises(CorruptTableError, match=f"hoodie.table.type is '{other}' and was '{kind}'"):
        HudiTable.open(str(path)).upsert([ROW])


def test_change_made_on_purpose_is_accepted_and_noted_by_the_next_commit(path) -> None:
    change(path, "timezone=UTC", "timezone=LOCAL")
    table = HudiTable.open(str(path))
    table.inspect.health(fix_properties=True)
    assert HudiTable.open(str(path)).to_arrow().num_rows == 1
    HudiTable.open(str(path)).upsert([ROW])
    (path / ".hoodie/.aux/pyhudi.identity").unlink()
    assert HudiTable.open(str(path)).to_arrow().num_rows == 1
    change(path, "recordkey.fields=id", "recordkey.fields=ie")
    with pytest.raises(CorruptTableError, match="was 'id'"):
        HudiTable.open(str(path)).to_arrow()


def test_rename_and_properties_that_nothing_depends_on_are_no_damage(path) -> None:
    table = HudiTable.open(str(path))
    rename_table(table, "other")
    with (path / PROPERTIES).open("a") as properties:
        properties.write("hoodie.datasource.write.drop.partition.columns=false\n")
    assert HudiTable.open(str(path)).to_arrow().num_rows == 1
    HudiTable.open(str(path)).upsert([ROW])


def test_damaged_note_is_damage_of_the_commit(path) -> None:
    commit = next(file for file in (path / ".hoodie/timeline").iterdir() if file.name.endswith("commit"))
    content = commit.read_bytes()
    assert b'"hoodie.table.type"' in content
    commit.write_bytes(content.replace(b'"hoodie.table.type"', b'"hoodie.table.tzpe"'))
    with pytest.raises(CorruptTableError, match=r"extra metadata of .*commit. of .* is damaged"):
        HudiTable.open(str(path)).to_arrow()


def test_commit_without_a_note_is_compared_with_nothing(path) -> None:
    """As those of Apache Hudi, after which an upgrade may have changed much."""
    commit = next(file for file in (path / ".hoodie/timeline").iterdir() if file.name.endswith("commit"))
    commit.write_bytes(commit.read_bytes().replace(IDENTITY_KEY.encode(), b"x" * len(IDENTITY_KEY)))
    change(path, "timezone=UTC", "timezone=LOCAL")
    assert HudiTable.open(str(path)).to_arrow().num_rows == 1


def test_note_holds_all_that_is_not_empty() -> None:
    config = TableConfig(
        {
            "hoodie.table.name": "t",
            "hoodie.table.version": "9",
            "hoodie.table.type": "COPY_ON_WRITE",
            "hoodie.timeline.layout.version": "2",
            "hoodie.table.recordkey.fields": "a,b",
            "hoodie.keygen.timebased.timezone": "UTC",
        }
    )
    noted = noted_identity(identity_note(config))
    assert noted == {name: value for name, value in identity_of(config).items() if value}
    assert noted["hoodie.keygen.timebased.*"] == "timezone=UTC"


def as_by_apache_hudi(path: Path, count: int = 1) -> None:
    """Commit some times, and take the note out of those commits."""
    before = {file.name for file in (path / ".hoodie/timeline").iterdir()}
    for _ in range(count):
        HudiTable.open(str(path)).upsert([ROW])
    for file in (path / ".hoodie/timeline").iterdir():
        if file.name.endswith("commit") and file.name not in before:
            file.write_bytes(file.read_bytes().replace(IDENTITY_KEY.encode(), b"x" * len(IDENTITY_KEY)))


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("count", [1, 3])
def test_changed_property_is_noticed_after_commits_without_a_note(path, name, count) -> None:
    old, new, expected = CHANGES[name]
    as_by_apache_hudi(path, count)
    change(path, old, new)
    doors = [lambda table: table.to_arrow(), lambda table: table.upsert([ROW]), lambda table: table.inspect.health()]
    for door in doors:
        with pytest.raises(HudiError, match=f"hoodie.properties.*{expected}.*fix_properties=True"):
            door(HudiTable.open(str(path)))


@pytest.mark.parametrize("undone", [False, True], ids=["commit", "restore"])
def test_upgrade_with_a_later_action_needs_no_proof_where_there_is_no_metadata_table(path, undone) -> None:
    if undone:  # Apache Hudi upgrades a table when it restores it
        table = HudiTable.open(str(path))
        saved = table.services.savepoint()
        table.upsert([ROW])
        table.services.restore(to=saved.instant)
    else:
        as_by_apache_hudi(path)
    shutil.rmtree(path / ".hoodie/metadata")
    lines = (path / PROPERTIES).read_text().splitlines(keepends=True)
    stored = "".join(line for line in lines if "metadata.partitions" not in line)
    (path / PROPERTIES).write_text(stored)
    change(path, "hoodie.table.version=9", "hoodie.table.version=8")
    assert HudiTable.open(str(path)).to_arrow().num_rows == 1
    (path / PROPERTIES).write_text(stored.replace("recordkey.fields=id", "recordkey.fields=ie"))
    with pytest.raises(CorruptTableError, match="was 'id'"):
        HudiTable.open(str(path)).to_arrow()


def test_note_is_looked_for_in_few_commits_and_once(path) -> None:
    """Nothing is read for it while the newest commit has a note."""
    storage = LocalStorage(str(path))

    def commits_read() -> int:
        recorded = RecordingStorage(storage)
        config = TableConfig(load_properties(storage))
        timeline = load_timeline(storage, config)
        table_schema(recorded, config, timeline)
        assert {call.method for call in recorded.calls} == {"read"}
        return len(recorded.calls)

    assert commits_read() == 1
    as_by_apache_hudi(path, 2)
    assert commits_read() == 4  # the newest, one without a note, and one with a note, which is read again to be decoded
    assert commits_read() == 1
    as_by_apache_hudi(path, 1)
    assert commits_read() == 2


def files_of(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if ".locks" not in file.parts)


def test_damage_is_noticed_before_failed_writes_are_rolled_back(path) -> None:
    HudiTable.open(str(path)).upsert([{**ROW, "id": 2}])
    newest = max(file for file in (path / ".hoodie/timeline").iterdir() if file.name.endswith("commit"))
    newest.unlink()
    (path / ".hoodie/.temp" / newest.name.partition("_")[0]).mkdir(parents=True)  # its writer died before it was completed
    change(path, "partition.fields=p", "partition.fields=q")
    before = files_of(path)
    doors = [
        lambda table: table.upsert([ROW]),
        lambda table: table.services.rollback(),
        lambda table: table.services.compact(),
        lambda table: table.services.archive(),
    ]
    for door in doors:
        with pytest.raises(HudiError, match=r"partition\.fields is 'q' and was 'p'|is copy-on-write"):
            door(HudiTable.open(str(path)))
        assert files_of(path) == before
    change(path, "partition.fields=q", "partition.fields=p")
    HudiTable.open(str(path)).upsert([ROW])
    assert HudiTable.open(str(path)).history().column("action").to_pylist().count("rollback") == 1
