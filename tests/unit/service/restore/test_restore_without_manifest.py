"""Restoring a table whose archive is damaged is refused with the name of the file, and changes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, UsageError
from tests.unit.table.tables import SCHEMA, ride

WRITES = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.metadata.enable": "false"}
ARCHIVE = {
    "hoodie.clean.automatic": "false",
    "hoodie.metadata.enable": "false",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
}


def archived(path: Path) -> tuple[HudiTable, Path, list[str]]:
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    for turn in range(6):
        table.upsert([ride(1, value=turn)], WRITES)
    table.services.archive(options=ARCHIVE)
    times = table.history()["requested"].to_pylist()
    return HudiTable.open(path), path / ".hoodie" / "timeline" / "history", times


@pytest.mark.parametrize("way", ["gone", "empty", "folder gone"])
def test_restore_without_a_manifest_is_refused_and_changes_nothing(tmp_path, way) -> None:
    table, history, times = archived(tmp_path / "t")
    manifest = max(history.glob("manifest_*"))
    if way == "folder gone":
        shutil.rmtree(history)
    elif way == "gone":
        manifest.unlink()
    else:
        manifest.write_bytes(b"")
    files = sorted(tmp_path.rglob("*"))
    named = "is missing: " if way == "folder gone" else manifest.name
    for time in (times[-2], times[0]):
        with pytest.raises(CorruptTableError, match=named):
            table.services.restore(time)
    assert [one for one in sorted(tmp_path.rglob("*")) if "lock" not in one.name] == [one for one in files if "lock" not in one.name]


def test_restore_without_the_file_that_names_the_manifest(tmp_path) -> None:
    """The manifests tell by themselves which is the newest."""
    table, history, times = archived(tmp_path / "t")
    (history / "_version_").unlink()
    with pytest.raises(UsageError, match="is archived"):
        table.services.restore(times[0])
    table.services.restore(times[-2])
    assert HudiTable.open(tmp_path / "t").to_arrow()["value"].to_pylist() == [4]
