"""The columns of tables without a row whose properties do not say them: any commit that does is enough, also an archived one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.actions import commit_metadata
from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.commit import Operation
from pyhudi.table.write_table import write
from pyhudi.timeline.instant_details import instant_path, load_commit_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string(), "p": pa.string()})
KEPT = {"hoodie.archive.automatic": "false"}
LIMITS = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}


def emptied(path: Path, version: int, *, archived: bool) -> HudiTable:
    """A table whose partitions were dropped by commits without schema, as those of Apache Hudi, and that was created without one."""
    options = {"hoodie.write.table.version": str(version)}
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["p"], options=options)
    for number in range(5):
        table.upsert([{"id": number, "v": "a", "p": str(number % 2)}], options=KEPT)
    for number in range(3):
        write(table, Operation.DELETE_PARTITION, None, options=KEPT, partitions=["0", "1"])
        table.upsert([{"id": number, "v": "a", "p": "0"}], options=KEPT)
    write(table, Operation.DELETE_PARTITION, None, options=KEPT, partitions=["0", "1"])
    if archived:
        table.services.archive(options=LIMITS)
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(re.sub(r"hoodie.table.create.schema=.*\n", "", properties.read_text()))
    timeline = load_full_timeline(table.storage, table.config)
    for instant in timeline.data_instants():
        if archived or instant.action.value == "replacecommit":
            metadata = load_commit_metadata(table.storage, table.config, timeline, instant)
            bare = replace(metadata, extra_metadata={key: value for key, value in metadata.extra_metadata.items() if key != "schema"})
            (path / instant_path(table.config, instant)).write_bytes(commit_content(bare, table.config.layout, sync=bytes(16)))
    return HudiTable.open(path)


@pytest.mark.parametrize(("version", "archived"), [(6, False), (8, True), (9, False), (9, True)])
def test_a_table_without_rows_has_the_columns_of_any_commit(tmp_path: Path, version: int, archived: bool) -> None:
    table = emptied(tmp_path / "t", version, archived=archived)
    assert table.to_arrow().schema.names == SCHEMA.names
    assert table.to_arrow().num_rows == 0
    table.upsert([{"id": 7, "v": "b", "p": "0"}])
    assert table.to_arrow().to_pylist() == [{"id": 7, "v": "b", "p": "0"}]


def test_a_table_whose_commits_all_say_nothing_is_no_empty_table(tmp_path: Path) -> None:
    table = emptied(tmp_path / "t", 9, archived=True)
    for file in (tmp_path / "t/.hoodie/timeline/history").iterdir():
        file.unlink()
    with pytest.raises(CorruptTableError, match=r"columns|archive"):
        table.to_arrow()


def test_what_a_commit_says_of_its_files_is_not_decoded_for_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    HudiTable.create(tmp_path, SCHEMA, name="t", keys=["id"]).upsert([{"id": 1, "v": "a", "p": "0"}])
    monkeypatch.setattr(commit_metadata, "stat_from", None)
    assert HudiTable.open(tmp_path).schema.names == SCHEMA.names
