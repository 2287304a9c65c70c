"""Tables with the timestamp, custom and user-written generators, slash-separated dates, and virtual keys: written, read, refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError, KeyFieldError, OptionError, UnsupportedError
from pyhudi.keygen.user import register_key_generator

TIMES = "hoodie.keygen.timebased."
TYPE = "hoodie.datasource.write.keygenerator.type"
MILLIS = {TIMES + "timestamp.type": "EPOCHMILLISECONDS", TIMES + "output.dateformat": "yyyy/MM/dd", TIMES + "timezone": "UTC"}
SLASHES = {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}
VIRTUAL = {"hoodie.populate.meta.fields": "false"}
EVENTS = pa.schema({"id": pa.string(), "at": pa.int64(), "city": pa.string(), "day": pa.date32(), "n": pa.int64()})
FIRST, SECOND = 1578283932000, 1705311000000


def events(*rows: tuple[str, int | None, str | None, date | None, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(EVENTS.names, row, strict=True)) for row in rows], EVENTS)


def create(path: Path, partition_by: list[str], options: dict[str, str], **more: Any) -> HudiTable:
    return HudiTable.create(path / "events", EVENTS, name="events", keys=["id"], partition_by=partition_by, options=options, **more)


def partition_paths(table: HudiTable) -> dict[str, str]:
    rows = table.to_arrow(columns=["_hoodie_record_key", "_hoodie_partition_path"]).to_pylist()
    return {row["_hoodie_record_key"]: row["_hoodie_partition_path"] for row in rows}


DAY = date(2024, 1, 15)
ROWS = events(("a", FIRST, "lima", DAY, 1), ("b", SECOND, "oslo", None, 2), ("c", None, None, DAY, 3))


@pytest.mark.parametrize(
    ("partition_by", "options", "expected"),
    [
        (["at"], {TYPE: "TIMESTAMP", **MILLIS}, {"a": "2020/01/06", "b": "2024/01/15", "c": "1970/01/01"}),
        (
            ["city:SIMPLE", "at:TIMESTAMP"],
            MILLIS,
            {"a": "lima/2020/01/06", "b": "oslo/2024/01/15", "c": "__HIVE_DEFAULT_PARTITION__/1970/01/01"},
        ),
        (["day"], SLASHES, {"a": "2024/01/15", "b": "__HIVE_DEFAULT_PARTITION__", "c": "2024/01/15"}),
    ],
)
def test_rows_go_to_their_partitions_and_are_found_there_again(
    tmp_path: Path, partition_by: list[str], options: dict[str, str], expected: dict[str, str]
) -> None:
    create(tmp_path, partition_by, options).insert(ROWS)
    table = HudiTable.open(tmp_path / "events")
    assert partition_paths(table) == expected
    later = events(("a", FIRST + 1, "lima", DAY, 10), ("d", SECOND, "oslo", None, 4))
    table.upsert(later)
    assert partition_paths(table) == {**expected, "d": expected["b"]}
    assert table.to_arrow(filter="id = 'a'")["n"].to_pylist() == [10]
    table.delete(later)
    assert partition_paths(table) == {key: expected[key] for key in "bc"}


@pytest.mark.parametrize(
    ("partition_by", "options"), [(["at"], {TYPE: "TIMESTAMP", **MILLIS}), (["city:SIMPLE", "at:TIMESTAMP"], MILLIS), (["day"], SLASHES)]
)
@pytest.mark.parametrize("condition", [f"at = {FIRST}", "city = 'oslo'", "day = '2024-01-15'", "day IS NULL", "city IS NULL", "n > 1"])
def test_filter_on_partition_columns_drops_no_row(tmp_path: Path, partition_by: list[str], options: dict[str, str], condition: str) -> None:
    table = create(tmp_path, partition_by, options)
    table.insert(ROWS)
    plain = create(tmp_path / "plain", [], {})
    plain.insert(ROWS)
    assert table.to_arrow(filter=condition).sort_by("id") == plain.to_arrow(filter=condition).sort_by("id")


def test_text_with_dashes_or_slashes_is_found_whatever_its_folders_are(tmp_path: Path) -> None:
    table = create(tmp_path, ["city"], SLASHES)
    table.insert(events(("a", 1, "2024-01-15", DAY, 1), ("b", 1, "2024/01/15", DAY, 2)))
    assert set(partition_paths(table).values()) == {"2024/01/15"}
    assert [table.to_arrow(filter=f"city = '{city}'")["id"].to_pylist() for city in ("2024-01-15", "2024/01/15")] == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("partition_by", "options", "error", "named"),
    [
        (["at"], {TYPE: "TIMESTAMP"}, OptionError, "timestamp.type"),
        (["at"], {TYPE: "TIMESTAMP", **MILLIS, TIMES + "output.dateformat": "yyyy-X"}, OptionError, "'X'"),
        (["at"], {TYPE: "TIMESTAMP", **MILLIS, TIMES + "timezone": "Mars/Olympus"}, OptionError, "Mars/Olympus"),
        (["at", "day"], {TYPE: "TIMESTAMP", **MILLIS}, OptionError, "one partition field"),
        (["city:SIMPLE", "day"], MILLIS, OptionError, "day:TIMESTAMP"),
        (["at.hour:TIMESTAMP"], MILLIS, KeyFieldError, "at.hour"),
        (["city", "day"], SLASHES, UnsupportedError, "one partition field"),
        (["day"], {**SLASHES, "hoodie.datasource.write.hive_style_partitioning": "true"}, UnsupportedError, "field=value"),
        (["day"], {"hoodie.datasource.write.keygenerator.class": "com.example.Foreign"}, UnsupportedError, "com.example.Foreign"),
        (["day"], {TIMES + "zone": "UTC"}, OptionError, "unknown"),
    ],
)
def test_table_that_could_not_be_written_is_not_made(
    tmp_path: Path, partition_by: list[str], options: dict[str, str], error: type[HudiError], named: str
) -> None:
    with pytest.raises(error, match=named):
        create(tmp_path, partition_by, options)
    assert not (tmp_path / "events").exists()


@pytest.mark.parametrize(
    "options",
    [
        {TIMES + "output.dateformat": "yyyy"},
        {"hoodie.deltastreamer.keygen.timebased.timezone": "GMT+8:00"},
        {"hoodie.datasource.write.partitionpath.field": "at:SIMPLE"},
        SLASHES,
        VIRTUAL,
        {"hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled": "true"},
    ],
)
def test_write_that_would_make_other_paths_is_refused(tmp_path: Path, options: dict[str, str]) -> None:
    table = create(tmp_path, ["at:TIMESTAMP"], MILLIS)
    with pytest.raises(OptionError, match="contradicts table events"):
        table.insert(ROWS, options=options)
    table.insert(ROWS, options={TIMES + "timezone": "UTC", "hoodie.datasource.write.partitionpath.field": "at:timestamp"})


class ByCity:
    def record_key(self, record: Any) -> str:
        return f"{record['city']}-{record['id']}"

    def partition_path(self, record: Any) -> str:
        return f"{record['day']:%Y/%m}" if record["day"] else "never"


def test_generator_of_a_user_is_asked_for_keys_and_paths(tmp_path: Path) -> None:
    register_key_generator("tests.ByCity", ByCity())
    table = create(tmp_path, ["day"], {"hoodie.datasource.write.keygenerator.class": "tests.ByCity"})
    table.insert(ROWS)
    assert partition_paths(table) == {"lima-a": "2024/01", "oslo-b": "never", "None-c": "2024/01"}
    table.upsert(events(("a", FIRST, "lima", DAY, 10)))
    assert sorted(table.to_arrow()["n"].to_pylist()) == [2, 3, 10]
    assert table.to_arrow(filter="day = '2024-01-15'").num_rows == 2
    with pytest.raises(KeyFieldError, match=r"'tests.ByCity' failed on the record key of row 0: KeyError"):
        table.delete(events(("a", FIRST, "lima", DAY, 0)).drop_columns("city"))
    table.delete(events(("a", FIRST, "lima", DAY, 0)))
    assert partition_paths(table).keys() == {"oslo-b", "None-c"}


def test_path_of_a_users_generator_that_does_not_tell_a_dropped_column_is_refused(tmp_path: Path) -> None:
    register_key_generator("tests.Made", Made(path="to/lima"))
    options = {"hoodie.datasource.write.keygenerator.class": "tests.Made", "hoodie.datasource.write.drop.partition.columns": "true"}
    table = create(tmp_path, ["city"], options)
    with pytest.raises(KeyFieldError, match="path of row 0: partition path 'to/lima' tells other values than these"):
        table.insert(ROWS)
    register_key_generator("tests.Made", Made(path="lima"))
    table.insert(ROWS.slice(0, 1))
    assert table.to_arrow()["city"].to_pylist() == ROWS["city"].to_pylist()[:1] == ["lima"]


class Unsayable(Exception):
    def __str__(self) -> str:
        raise ValueError("not to be shown")


@dataclass(frozen=True)
class Made:
    """Gives one key and one path to all records; fails where there is none."""

    key: str | None = "k"
    path: Any = "lima"

    def record_key(self, record: Mapping[str, Any]) -> str:
        if self.key == "unsayable":
            raise Unsayable
        return record["nope"] if self.key is None else self.key

    def partition_path(self, record: Mapping[str, Any]) -> Any:
        return str(1 / 0) if self.path is None else self.path


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (Made(key=None), "failed on the record key of row 0: KeyError: 'nope'"),
        (Made(key="unsayable"), "failed on the record key of row 0: Unsayable: which cannot be shown"),
        (Made(path=None), "failed on the partition path of row 0: ZeroDivisionError"),
        (Made(path="../x"), r"made the path of row 0: partition path '\.\./x' is refused: it has a '.' or '..' segment\.$"),
        (Made(path=""), "made the partition path '' of row 0; it must be a path, since the table has partition fields"),
        (Made(path=7), "made the partition path 7 of row 0; it must be a path"),
        (Made(key=""), "made the record key '' of row 0"),
        (Made(key="\ud800"), r"made the record key '\\ud800' of row 0; it has half of a surrogate pair"),
        (Made(path="x\udfff"), r"made the partition path 'x\\udfff' of row 0; it has half of a surrogate pair"),
    ],
)
def test_failure_of_a_users_generator_names_it_and_the_row(tmp_path: Path, made: Made, message: str) -> None:
    register_key_generator("tests.Made", made)
    table = create(tmp_path, ["city"], {"hoodie.datasource.write.keygenerator.class": "tests.Made"})
    with pytest.raises(KeyFieldError, match="Key generator 'tests.Made' " + message):
        table.insert(ROWS)
    assert table.count() == 0


def test_path_of_a_users_generator_in_a_table_without_partitions_is_refused(tmp_path: Path) -> None:
    register_key_generator("tests.Made", Made())
    table = create(tmp_path, [], {"hoodie.datasource.write.keygenerator.class": "tests.Made"})
    with pytest.raises(
        KeyFieldError, match=r"made the partition path 'lima' of row 0; it must be '', since the table has no partition fields"
    ):
        table.insert(ROWS)
    assert table.count() == 0


@pytest.mark.parametrize(
    ("table_type", "kind", "partition_by"),
    [
        ("COPY_ON_WRITE", "SIMPLE", ["day"]),
        ("COPY_ON_WRITE", "COMPLEX", ["city", "day"]),
        ("COPY_ON_WRITE", "NON_PARTITION", []),
        ("MERGE_ON_READ", "SIMPLE", ["day"]),
    ],
)
def test_table_with_virtual_keys_stores_no_keys_and_finds_them(tmp_path: Path, table_type: str, kind: str, partition_by: list[str]) -> None:
    table = create(tmp_path, partition_by, {**VIRTUAL, TYPE: kind}, table_type=table_type, order_by=["n"])
    table.upsert(ROWS)
    table.upsert(events(("a", FIRST, "lima", DAY, 10), ("b", FIRST, "oslo", None, 0), ("d", 1, "oslo", None, 1)))
    assert {row["id"]: row["n"] for row in table.to_arrow().to_pylist()} == {"a": 10, "b": 2, "c": 3, "d": 1}
    table.delete(events(("c", None, None, DAY, 0)))
    table.delete(where="n = 1")
    table.insert(events(("e", 1, "oslo", None, 5)))
    if table.config.is_merge_on_read:
        table.services.compact()
    assert sorted(table.to_arrow()["n"].to_pylist()) == [2, 5, 10]
    for file in (tmp_path / "events").rglob("*.parquet"):
        if ".hoodie" not in file.parts:
            stored = pq.ParquetFile(file).read()
            assert stored["_hoodie_record_key"].null_count == stored.num_rows
            assert set(stored["_hoodie_file_name"].to_pylist()) <= {file.name}


@pytest.mark.parametrize(
    ("keys", "kind", "table_type", "named"),
    [
        ([], "NON_PARTITION", "COPY_ON_WRITE", "no record key"),
        (["id"], "COMPLEX", "MERGE_ON_READ", "can have SIMPLE"),
        (["id"], "GLOBAL_DELETE", "COPY_ON_WRITE", "GLOBAL_DELETE"),
    ],
)
def test_virtual_keys_are_refused_where_hudi_has_none(tmp_path: Path, keys: list[str], kind: str, table_type: str, named: str) -> None:
    with pytest.raises(UnsupportedError, match=named):
        HudiTable.create(tmp_path / "t", EVENTS, name="t", keys=keys, table_type=table_type, options={**VIRTUAL, TYPE: kind})


@pytest.mark.parametrize("index", ["BLOOM", "GLOBAL_BLOOM", "BUCKET", "RECORD_INDEX"])
def test_index_that_needs_stored_keys_is_refused_with_virtual_ones(tmp_path: Path, index: str) -> None:
    table = create(tmp_path, ["day"], VIRTUAL)
    with pytest.raises(UnsupportedError, match="virtual keys"):
        table.upsert(ROWS, options={"hoodie.index.type": index})


GLOBAL_DELETE = {TYPE: "GLOBAL_DELETE"}


def test_global_delete_finds_keys_in_any_partition(tmp_path: Path) -> None:
    table = create(tmp_path, ["city"], {})
    table.insert(ROWS)
    assert table.delete(pa.table({"id": ["a", "c", "z"]}), options=GLOBAL_DELETE).deleted == 2
    assert table.to_arrow()["id"].to_pylist() == ["b"]


def test_global_delete_with_an_index_of_one_partition_is_refused(tmp_path: Path) -> None:
    table = create(tmp_path, ["city"], {})
    table.insert(ROWS)
    with pytest.raises(OptionError, match="any partition"):
        table.delete(pa.table({"id": ["a"]}), options={**GLOBAL_DELETE, "hoodie.index.type": "SIMPLE"})
    with pytest.raises(OptionError, match="contradicts"):
        table.upsert(ROWS, options=GLOBAL_DELETE)
