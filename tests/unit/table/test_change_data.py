"""`table.changes(format="cdc")`: what every commit did to every record, with its images, in all logging modes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, OptionError, UsageError
from pyhudi.kernels.cdc.change_log import read_change_log
from pyhudi.spec.files.file_group import LogFile
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.txn import transaction
from pyhudi.write.input.alter_columns import RenameColumn
from tests.tables import unpack

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


def images(rows: pa.Table) -> list[tuple[str, str | None, str | None]]:
    """Operation and the column `v` of both images, by commit, sorted within each."""
    keyed = [(one["ts_ms"], one["op"], _value(one["before"]), _value(one["after"])) for one in rows.to_pylist()]
    return [one[1:] for one in sorted(keyed, key=lambda one: (one[0], str(one[1:])))]


def _value(image: str | None) -> str | None:
    parsed = None if image is None else json.loads(image)
    assert parsed is None or list(parsed) == SCHEMA.names
    result: str | None = None if parsed is None else parsed["v"]
    return result


@pytest.mark.parametrize(
    ("mode", "more"),
    [
        *((mode, {}) for mode in MODES),
        ("OP_KEY_ONLY", {"hoodie.write.table.version": "6"}),
        ("DATA_BEFORE", {"hoodie.write.table.version": "8"}),
        *((mode, {"hoodie.populate.meta.fields": "false"}) for mode in MODES),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_write_tells_what_it_did(kind: str, mode: str, more: dict[str, str], tmp_path: Path) -> None:
    table = create(tmp_path, kind, mode, **more)
    table.upsert([row(1, "a1", 1, "y"), row(2, "a2", 1, "x"), row(3, "a3", 1, "y"), row(4, "a4", 1, "x")])
    table.upsert([row(2, "b2", 2, "x"), row(6, "b6", 2, "x"), row(1, "late", 0, "y")])
    table.delete([{"id": 1, "p": "y"}, {"id": 99, "p": "y"}])
    table.insert([row(7, "c7", 2, "x")])
    table.delete(where="p = 'y'")
    table.overwrite([row(10, "e10", 2, "x")], partitions=["x"])
    assert images(table.changes(format="cdc")) == [
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
    assert images(table.changes(format="cdc")) == expected


def test_a_compaction_logs_what_it_changed_of_the_base_file(tmp_path: Path) -> None:
    table = create(tmp_path, "MERGE_ON_READ")
    table.insert([row(number, f"a{number}", 1, "x") for number in (1, 2, 3)])
    table.upsert([row(3, "b3", 2, "x"), row(1, "b1", 2, "x")])
    table.delete([{"id": 2, "p": "x"}])
    table.services.compact()
    (path,) = [path for path in (tmp_path / "t" / "x").iterdir() if path.name.endswith(".cdc")]
    name = parse_log_file_name(path.name)
    assert name is not None
    (entries,) = read_change_log(LocalStorage(str(tmp_path / "t")), LogFile("x", name, path.stat().st_size))
    images = zip(*(entries[column].to_pylist() for column in ("op", "before", "after")), strict=True)
    assert [(op, before and before["v"], after and after["v"]) for op, before, after in images] == [
        ("u", "a1", "b1"),
        ("u", "a3", "b3"),
        ("d", "a2", None),
    ]


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
def test_bounds_that_are_instants_mean_these_commits(kind: str, tmp_path: Path) -> None:
    table = create(tmp_path, kind)
    for number in range(4):
        table.upsert([row(number, f"v{number}", 1, f"p{number}")])
    first, second, third, last = sorted(table.history()["requested"].to_pylist())
    (late,) = (tmp_path / "t" / ".hoodie" / "timeline").glob(f"{second}_*commit")

    def values(since: str | None, until: str | None = None) -> list[str | None]:
        return [after for _, _, after in images(HudiTable.open(tmp_path / "t").changes(since, until, format="cdc"))]

    assert (values(first, third), values(None, first), values(last)) == (["v1", "v2"], ["v0"], [])
    # A commit that was completed after a reader had read up to a later one is among those that it reads next.
    completed = max(table.history()["completed"].to_pylist())
    late.rename(late.with_name(f"{second}_{int(completed) + 1}{late.suffix}"))
    assert (values(first, third), values(third), values(last)) == (["v2"], ["v1", "v3"], ["v1"])


@pytest.mark.parametrize("kind", KINDS)
def test_each_of_several_rows_of_one_key_has_its_change(kind: str, tmp_path: Path) -> None:
    table = create(tmp_path, kind, "OP_KEY_ONLY")
    table.insert([row(1, "a", 1, "x")])
    table.insert([row(1, "b", 1, "x")])
    table.delete([{"id": 1, "p": "x"}])
    changes = images(table.changes(format="cdc"))
    assert changes[:2] == [("i", None, "a"), ("i", None, "b")]
    assert sorted(changes[2:]) == [("d", "a", None), ("d", "b", None)]


def logs_of(path: Path) -> list[Path]:
    return [file for file in (path / "t" / "x").iterdir() if file.name.endswith(".cdc")]


def test_a_file_that_is_missing_is_named_with_the_time_to_begin_at(tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE")
    for number in (1, 2, 3):
        table.upsert([row(1, f"v{number}", number, "x")])
    _, second, _ = table.history().column("completed").to_pylist()
    (log,) = [log for log in logs_of(tmp_path) if table.history()["requested"][1].as_py() in log.name]
    log.unlink()
    with pytest.raises(UsageError, match=f"cleaned away; the earliest safe time is {second}"):
        table.changes(format="cdc")
    assert images(table.changes(second, format="cdc")) == [("u", "v2", "v3")]


def test_a_failed_write_takes_its_log_of_changes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = create(tmp_path, "COPY_ON_WRITE")
    table.upsert([row(1, "a1", 1, "x")])

    def refuse(*_: Any) -> None:
        assert logs_of(tmp_path)
        raise ConflictError("somebody came between")

    with monkeypatch.context() as patched:
        patched.setattr(transaction, "check_timeline_unchanged", refuse)
        with pytest.raises(ConflictError):
            table.upsert([row(1, "b1", 2, "x")])
    assert not logs_of(tmp_path)
    assert images(table.changes(format="cdc")) == [("i", None, "a1")]


@pytest.mark.parametrize("mode", MODES)
def test_images_of_before_a_column_was_renamed_have_its_name_of_today(mode: str, tmp_path: Path) -> None:
    table = create(tmp_path, "COPY_ON_WRITE", mode)
    table.upsert([row(1, "a1", 1, "x")])
    table.upsert([row(1, "b1", 2, "x")])
    alter_schema(table, [RenameColumn(("v",), "w")], {"hoodie.schema.on.read.enable": "true"})
    table.upsert([{"id": 1, "w": "c1", "n": 3, "p": "x"}])
    images = [json.loads(text)["w"] for text in table.changes(format="cdc")["after"].to_pylist()]
    assert images == ["a1", "b1", "c1"]


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


@pytest.mark.parametrize("name", ["change_data_v9", "merge_on_read_change_data_v9"])
def test_changes_that_apache_hudi_captured_are_read_as_it_reads_them(name: str, tmp_path: Path) -> None:
    folder = unpack(f"apache_hudi/{name}", tmp_path)
    ours = HudiTable.open(folder).changes(format="cdc")
    theirs = pq.read_table(folder.parent / f"{name}.changes.parquet")
    assert _told(ours) == _told(theirs)
    assert ours.num_rows == 11


def _told(rows: pa.Table) -> list[tuple[Any, ...]]:
    """The changes, sorted; nulls and meta columns, which Apache Hudi shows in some images and not in others, are left out."""
    images = [tuple(None if one[name] is None else _parsed(one[name]) for name in ("before", "after")) for one in rows.to_pylist()]
    return sorted(zip(rows["ts_ms"].to_pylist(), rows["op"].to_pylist(), images, strict=True), key=str)


_COLUMNS = {"id", "city", "ts", "n", "note"}


def _parsed(text: str) -> dict[str, Any] | None:
    parsed = json.loads(text)
    return parsed and {name: value for name, value in parsed.items() if value is not None and name in _COLUMNS}
