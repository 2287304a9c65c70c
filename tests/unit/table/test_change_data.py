"""`table.changes(format="cdc")`: what every commit did to every record, with its images, in all logging modes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError, UsageError
from pyhudi.storage.local import LocalStorage

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string(), "n": pa.int64(), "p": pa.string()})
MODES = ["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"]
KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]


def create(path: Path, kind: str, mode: str = "DATA_BEFORE_AFTER", **options: str) -> HudiTable:
    capture = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
    return HudiTable.create(
        path / "t", SCHEMA, name="t", keys=["id"], partition_by=["p"], order_by=["n"], table_type=kind, options={**capture, **options}
    )


def row(number: int, value: str, order: int, part: str) -> dict[str, Any]:
    return {"id": number, "v": value, "n": order, "p": part}


def found(rows: pa.Table) -> list[tuple[str, str | None, str | None]]:
    """Operation and the column `v` of both images, by commit, sorted within each."""
    keyed = [(one["ts_ms"], one["op"], _value(one["before"]), _value(one["after"])) for one in rows.to_pylist()]
    return [one[1:] for one in sorted(keyed, key=lambda one: (one[0], str(one[1:])))]


def _value(image: str | None) -> str | None:
    parsed = None if image is None else json.loads(image)
    assert parsed is None or list(parsed) == SCHEMA.names
    return None if parsed is None else parsed["v"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_write_tells_what_it_did(kind: str, mode: str, tmp_path: Path) -> None:
    table = create(tmp_path, kind, mode)
    table.upsert([row(1, "a1", 1, "y"), row(2, "a2", 1, "x"), row(3, "a3", 1, "y"), row(4, "a4", 1, "x")])
    table.upsert([row(2, "b2", 2, "x"), row(6, "b6", 2, "x"), row(1, "late", 0, "y")])
    table.delete([{"id": 1, "p": "y"}, {"id": 99, "p": "y"}])
    table.insert([row(7, "c7", 2, "x")])
    table.delete(where="p = 'y'")
    table.overwrite([row(10, "e10", 2, "x")], partitions=["x"])
    assert found(table.changes(format="cdc")) == [
        *[("i", None, f"a{number}") for number in (1, 2, 3, 4)],
        ("i", None, "b6"),
        ("u", "a2", "b2"),
        ("d", "a1", None),
        ("i", None, "c7"),
        ("d", "a3", None),
        ("d", "a4", None),
        ("d", "b2", None),
        ("d", "b6", None),
        ("d", "c7", None),
        ("i", None, "e10"),
    ]


@pytest.mark.parametrize("mode", MODES)
def test_compaction_and_log_compaction_change_nothing(mode: str, tmp_path: Path) -> None:
    table = create(tmp_path, "MERGE_ON_READ", mode)
    table.insert([row(1, "a1", 1, "x"), row(2, "a2", 1, "x")])
    table.upsert([row(1, "b1", 2, "x")])
    table.upsert([row(1, "c1", 3, "x")])
    table.services.compact()
    table.delete([{"id": 2, "p": "x"}])
    table.upsert([row(1, "late", 1, "x"), row(2, "d2", 1, "x")])
    expected = [("i", None, "a1"), ("i", None, "a2"), ("u", "a1", "b1"), ("u", "b1", "c1"), ("d", "a2", None), ("i", None, "d2")]
    assert found(table.changes(format="cdc")) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_changes_of_the_spans_between_commits_are_those_of_the_whole(kind: str, tmp_path: Path) -> None:
    table = create(tmp_path, kind, "OP_KEY_ONLY")
    table.upsert([row(1, "a1", 1, "x")])
    table.upsert([row(1, "b1", 2, "x"), row(2, "b2", 2, "x")])
    table.delete([{"id": 1, "p": "x"}])
    times = [None, *table.history().column("completed").to_pylist()]
    parts = [table.changes(since, until, format="cdc") for since, until in itertools.pairwise(times)]
    assert [part.num_rows for part in parts] == [1, 2, 1]
    assert pa.concat_tables(parts).equals(table.changes(format="cdc").combine_chunks())


@pytest.mark.parametrize("kind", KINDS)
def test_each_of_several_rows_of_one_key_has_its_change(kind: str, tmp_path: Path) -> None:
    table = create(tmp_path, kind, "OP_KEY_ONLY")
    table.insert([row(1, "a", 1, "x")])
    table.insert([row(1, "b", 1, "x")])
    table.delete([{"id": 1, "p": "x"}])
    changes = found(table.changes(format="cdc"))
    assert changes[:2] == [("i", None, "a"), ("i", None, "b")]
    assert sorted(changes[2:]) == [("d", "a", None), ("d", "b", None)]


def test_a_log_of_changes_stands_in_the_statistics_and_goes_with_a_failed_write(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE")
    table.upsert([row(1, "a1", 1, "x")])
    table.upsert([row(1, "b1", 2, "x")])
    folder = tmp_path / "t" / "x"
    (log,) = [file for file in folder.iterdir() if file.name.endswith(".cdc")]
    assert table.changes(format="cdc").num_rows == 2
    log.unlink()
    with pytest.raises(UsageError, match="cleaned"):
        table.changes(format="cdc")
    assert LocalStorage(str(folder)).list("")


def test_a_table_that_captures_no_changes_says_so(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    with pytest.raises(UsageError, match=r"hoodie\.table\.cdc\.enabled=true"):
        table.changes(format="cdc")


def test_the_logging_mode_is_checked_when_the_table_is_created(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="OP_KEY_ONLY"):
        create(tmp_path, "COPY_ON_WRITE", "EVERYTHING")


def test_a_write_cannot_switch_the_capture(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE")
    with pytest.raises(OptionError, match="cdc"):
        table.upsert([row(1, "a", 1, "x")], options={"hoodie.table.cdc.enabled": "false"})
