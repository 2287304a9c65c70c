"""Indexes are made, kept in step, and dropped; what cannot be is refused with its reason."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError, SchemaError, UnsupportedError, UsageError
from pyhudi.metadata_table.format.index_definitions import PATH, load_definitions
from pyhudi.metadata_table.format.metadata_keys import split_secondary_key
from pyhudi.metadata_table.format.record import ColumnStats
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.service.indexes import list_indexes
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline_archive.full_timeline import load_full_timeline

SCHEMA = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64()), ("name", pa.string()), ("tags", pa.list_(pa.string()))])


def rows(first: int, last: int, *, ts: int = 0, city: str | None = None) -> pa.Table:
    numbers = range(first, last)
    columns = {
        "id": [f"k{number:03d}" for number in numbers],
        "city": [city or f"c{number % 2}" for number in numbers],
        "ts": [ts] * len(numbers),
        "name": [None if number % 7 == 0 else f"N${number % 5 + ts}" for number in numbers],
        "tags": [[] for _ in numbers],
    }
    return pa.table(columns, schema=SCHEMA)


def new_table(folder: Path, kind: str, **options: str) -> HudiTable:
    return HudiTable.create(str(folder / "t"), SCHEMA, name="t", keys=("id",), partition_by=("city",), order_by=("ts",), table_type=kind)


def config_of(table: HudiTable) -> TableConfig:
    return TableConfig(load_properties(table.storage))


def open_metadata(table: HudiTable) -> MetadataTable:
    config = config_of(table)
    return MetadataTable.open(table.storage, config, load_full_timeline(table.storage, config))


def statistics(table: HudiTable, partition: str) -> list[ColumnStats]:
    """The records of a partition of statistics."""
    records = [record for _, record in open_metadata(table).partition(partition).scan()]
    result = [record for record in records if isinstance(record, ColumnStats)]
    assert len(result) == len(records)
    return result


def placed(table: HudiTable) -> set[tuple[str, str, str]]:
    """Key, partition and file id of every record, by the rows themselves."""
    result = table.to_arrow(meta_columns=True).select(["_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]).to_pylist()
    return {(row["_hoodie_record_key"], row["_hoodie_partition_path"], file_id(row["_hoodie_file_name"])) for row in result}


def file_id(name: str) -> str:
    return name.split("_", maxsplit=1)[0]


def check(table: HudiTable) -> None:
    """The indexes say what the rows say."""
    metadata = open_metadata(table)
    indices = metadata.record_locations([key for key, *_ in placed(table)] + ["k004", "no such key"])
    assert {(key, index.partition_path, index.file_id) for key, result in indices.items() for index in result} == placed(table)
    if "secondary_index_by_name" in metadata.partitions:
        pairs = {split_secondary_key(key) for key, _ in metadata.partition("secondary_index_by_name").scan()}
        assert pairs == {(row["name"], row["id"]) for row in table.to_arrow(columns=["name", "id"]).to_pylist()}
        assert set(metadata.record_keys_of("secondary_index_by_name", ["N$4"]).get("N$4", [])) == {
            key for name, key in pairs if name == "N$4"
        }


def change(table: HudiTable) -> None:
    """Update, insert, delete, delete and insert again, and replace."""
    table.upsert(pa.concat_tables([rows(0, 6, ts=50), rows(20, 24)]))
    check(table)
    table.delete(where="id in ('k004', 'k005', 'k023')")
    check(table)
    table.upsert(rows(5, 6, ts=99))
    check(table)
    table.insert(rows(30, 32, city="new"))
    check(table)
    table.overwrite(rows(40, 43, city="c1"))
    check(table)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_indexes_of_records_follow_every_change(tmp_path, kind) -> None:
    table = new_table(tmp_path, kind)
    table.insert(rows(0, 20))
    assert table.services.index("by_name", "name").built == ("record_index", "secondary_index_by_name")
    check(table)
    change(table)
    table.services.index(rebuild=True)
    check(table)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_record_index_by_partition_follows_every_change(tmp_path, kind) -> None:
    table = new_table(tmp_path, kind)
    table.services.index("record_index", "id", options={"isPartitioned": "true"})
    table.insert(rows(0, 20))
    check(table)
    change(table)
    table.insert(rows(0, 2, city="c2"))
    assert {index.partition_path for index in open_metadata(table).record_locations(["k000"])["k000"]} >= {"c2"}
    with pytest.raises(UnsupportedError, match="say in which"):
        open_metadata(table).lookup_record_keys(["k000"])


def test_record_index_of_an_option_is_kept_without_it_and_dropped_by_false(tmp_path) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    option = "hoodie.metadata.record.index.enable"
    table.insert(rows(0, 2), options={option: "true"})
    table.upsert(rows(1, 4))
    check(table)
    table.upsert(rows(4, 5), options={option: "false"})
    assert "record_index" not in config_of(table).metadata_partitions
    assert "record_index" not in load_definitions(table.storage, config_of(table))


def test_expression_index_tells_bounds_of_files(tmp_path) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 6))
    table.services.index("low", "name", using="column_stats", options={"expr": "lower"})
    table.upsert(rows(1, 2, ts=7))
    result = statistics(table, "expr_index_low")
    by_file = {stats.file_name: (stats.minimum, stats.maximum) for stats in result}
    assert sorted(by_file.values(), key=str) == [("n$0", "n$3"), ("n$0", "n$8"), ("n$2", "n$4")]


def test_what_would_be_done_is_said_without_doing_it(tmp_path) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 2))
    before = config_of(table).properties
    assert table.services.index("x", "name", dry_run=True).built == ("record_index", "secondary_index_x")
    assert table.services.index("column_stats", drop=True, dry_run=True).dropped == ("column_stats", "partition_stats")
    assert config_of(table).properties == before


def test_listed_indexes_are_the_partitions_of_the_metadata_table(tmp_path) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 2))
    table.services.index("by_name", "name")
    listed = {index.name: (index.type, index.columns) for index in list_indexes(table.storage, config_of(table))}
    assert listed["secondary_index_by_name"] == ("secondary_index", ("name",))
    assert listed.keys() == {"column_stats", "partition_stats", "record_index", "secondary_index_by_name"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("x", "nam"), SchemaError, "no column 'nam'. Did you mean 'name'"),
        (("x", "tags"), SchemaError, "secondary indexes are of strings"),
        (("x", ("name", "ts")), UsageError, "of 2 columns"),
        (("x", ()), UsageError, "Without columns there are record_index, column_stats, partition_stats, bloom_filters"),
        (("x-y", "name"), UsageError, "no name of an index"),
        (("record_index", "name"), UsageError, "of the record key"),
        (("x", "name", "btree"), UsageError, "type 'btree'"),
        (("x", "name", "column_stats"), UsageError, "needs the option expr"),
        (("x", "name", "column_stats", {"expr": "lowr"}), UsageError, "Did you mean 'lower'"),
        (("x", "tags", "column_stats", {"expr": "lower"}), SchemaError, "is not served"),
        (("x", "ts", "bloom_filters", {"expr": "identity"}), SchemaError, "bloom_filters cannot be of"),
        (("x", "name", "bloom_filters", {"expr": "lower", "fpp": "often"}), OptionError, "no number"),
        (("x", "name", None, {"exp": "lower"}), OptionError, "the option 'exp' is unknown"),
        (("x", "name", "bloom_filters", {"expr": "lower", "fpp": "2"}), OptionError, "index 'x': fpp is '2'"),
        (("x", "name", "bloom_filters", {"expr": "lower", "fpp": "nan"}), OptionError, "fpp is 'nan'"),
        (("x", "name", "bloom_filters", {"expr": "lower", "numentries": "-1"}), OptionError, "numentries is '-1'"),
        (("x", "name", "bloom_filters", {"expr": "lower", "numentries": "2000000000"}), OptionError, "are too large"),
        (("x", "name", "bloom_filters", {"expr": "lower", "filtertype": "XOR"}), OptionError, "it can be SIMPLE, DYNAMIC_V0"),
        (("x", "ts", "column_stats", {"expr": "from_unixtime", "timeZone": "Nope/Zone"}), OptionError, "timeZone is 'Nope/Zone'"),
        (("x", "ts", "column_stats", {"expr": "from_unixtime", "timeZone": ""}), OptionError, "timeZone is ''"),
        (("x", "name", "column_stats", {"expr": "lower", "timeZone": "Nope"}), OptionError, "timeZone is 'Nope'"),
        (("x", "name", "column_stats", {"expr": "substring", "pos": "1", "len": "3000000000"}), OptionError, "len is '3000000000'"),
        (("x", "ts", "column_stats", {"expr": "date_add", "days": "3000000000"}), OptionError, "days is '3000000000'"),
        (("x", "name", "column_stats", {"expr": None}), OptionError, "the option 'expr' is None"),
        (("x", "name", "column_stats", {5: "lower"}), OptionError, "the option 5 is 'lower'"),
        (("x", "name", "column_stats", {"expr": 5}), UsageError, "the function '5' is not served"),
        (("x", "name", None, ["expr"]), UsageError, r"options is \['expr'\]"),
        (("x", "name", 5), UsageError, "using is 5"),
        (("x", None), UsageError, "columns is None"),
        (("x", [5]), UsageError, r"columns is \[5\]"),
        ((5, "name"), UsageError, "name of an index is 5"),
        (("n" * 250, "name"), UsageError, "name of 250 letters; files are called by it, which leaves 144 at most"),
        (("column_stats", "name"), UsageError, "column_stats is of all columns"),
        (("partition_stats", "name"), UsageError, "partition_stats is of all columns"),
        (("bloom_filters", "name", "bloom_filters", {"expr": "lower"}), UsageError, "bloom_filters is of all columns"),
        (("files", "name"), UsageError, "files is the list of files"),
        (("Record_Index", "name"), UsageError, "Record_Index is that of the record keys"),
        (("record_index", "name", "column_stats", {"expr": "lower"}), UsageError, "record_index is that of the record keys"),
    ],
)
@pytest.mark.parametrize("mode", ["both", "schedule"])
def test_index_that_cannot_be_is_refused(tmp_path, arguments, error, message, mode) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 2))
    before = config_of(table).properties
    name, columns, *rest = arguments
    with pytest.raises(error, match=message):
        table.services.index(name, columns, **dict(zip(["using", "options"], rest, strict=False)), mode=mode)
    assert config_of(table).properties == before
    assert not [row for row in table.history().to_pylist() if row["action"] == "indexing"]


def test_index_to_drop_has_a_text_for_a_name(tmp_path) -> None:
    with pytest.raises(UsageError, match="name of an index is 5"):
        new_table(tmp_path, "COPY_ON_WRITE").services.index(5, drop=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["n" * 144, "expr_index_" + "n" * 149])
def test_index_may_have_a_long_name(tmp_path, name) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 2))
    kind = {"using": "column_stats", "options": {"expr": "lower"}} if name.startswith("expr") else {}
    assert table.services.index(name, "name", **kind).built[-1].endswith(name)  # type: ignore[arg-type]
    table.upsert(rows(0, 3, ts=1))
    assert table.inspect.health().to_pylist() == []


def test_index_is_made_and_dropped_once(tmp_path, caplog) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 2))
    table.services.index("x", "name")
    with pytest.raises(UsageError, match="already"):
        table.services.index("x", "name")
    assert table.services.index("x", "name", if_not_exists=True).built == ()
    assert not caplog.records
    assert table.services.index("x", "id", if_not_exists=True).built == ()
    assert "has another index secondary_index_x, of name: it stays" in caplog.text
    with pytest.raises(UsageError, match="secondary_index_x needs it"):
        table.services.index("record_index", drop=True)
    assert table.services.index("x", drop=True).dropped == ("secondary_index_x",)
    with pytest.raises(UsageError, match="no index 'x'"):
        table.services.index("x", drop=True)
    assert table.services.index("x", drop=True, if_exists=True).dropped == ()
    with pytest.warns(DeprecationWarning, match="if_exists"):
        assert table.services.index("x", drop=True, lenient=True).dropped == ()


@pytest.mark.parametrize("arguments", [{"if_exists": True}, {"drop": True, "if_not_exists": True}])
def test_condition_that_does_not_fit_the_action_is_refused(arguments, tmp_path) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    with pytest.raises(UsageError, match="goes with drop=True"):
        table.services.index("x", "name", **arguments)


def test_type_whose_strings_differ_is_refused_for_an_indexed_column(tmp_path) -> None:
    schema = pa.schema([("id", pa.string()), ("level", pa.int32())])
    table = HudiTable.create(str(tmp_path / "t"), schema, name="t", keys=("id",))
    table.insert(pa.table({"id": ["a"], "level": pa.array([7], pa.int32())}))
    table.services.index("by_level", "level")
    with pytest.raises(UnsupportedError, match="would become double"):
        table.upsert(pa.table({"id": ["c"], "level": pa.array([9.5], pa.float64())}))
    table.upsert(pa.table({"id": ["b"], "level": pa.array([8], pa.int64())}))
    assert open_metadata(table).record_keys_of("secondary_index_by_level", ["7", "8"]) == {"7": ["a"], "8": ["b"]}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_deleting_one_of_two_records_of_a_key_leaves_the_others_place(tmp_path, kind) -> None:
    table = new_table(tmp_path, kind)
    table.services.index("record_index")
    table.insert(rows(0, 4))
    table.insert(rows(0, 2, city="c2"))
    table.delete(where="city <> 'c2' AND id = 'k000'")
    assert {
        key: {index.partition_path for index in result} for key, result in open_metadata(table).record_locations(["k000", "k001"]).items()
    } == {
        "k000": {"c2"},
        "k001": {"c2"},
    }


def test_time_zone_of_an_expression_is_not_among_the_options_that_apache_hudi_checks(tmp_path) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 2))
    table.services.index("day", "ts", using="column_stats", options={"expr": "from_unixtime"})
    entry = json.loads(table.storage.read(PATH))["indexDefinitions"]["expr_index_day"]
    assert (entry["indexOptions"], entry["timeZone"]) == ({"expr": "from_unixtime"}, "UTC")
    assert load_definitions(table.storage, config_of(table))["expr_index_day"].options["timeZone"] == "UTC"


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_table_of_version_6_has_a_record_index_and_none_of_the_newer_ones(tmp_path, kind) -> None:
    table = HudiTable.create(
        str(tmp_path / "t"),
        SCHEMA,
        name="t",
        keys=("id",),
        partition_by=("city",),
        order_by=("ts",),
        table_type=kind,
        options={"hoodie.write.table.version": "6"},
    )
    table.insert(rows(0, 20))
    for refused, options in (("secondary", {}), ("expression", {"using": "column_stats", "options": {"expr": "lower"}})):
        with pytest.raises(UnsupportedError, match=f"version 6, whose tables have no {refused} indexes"):
            table.services.index("by_name", "name", **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="version 6 have no record index by partition"):
        table.services.index("record_index", options={"isPartitioned": "true"})
    table.services.index("record_index")
    check(table)
    change(table)
    table.services.index(rebuild=True)
    check(table)
    assert table.inspect.health().to_pylist() == []


def test_file_groups_of_another_partition_in_its_folder_are_left_alone(tmp_path) -> None:
    """A clean of Apache Hudi 1.2.0 leaves them: deletes from an expression index, in the folder of the column statistics."""
    table = new_table(tmp_path, "COPY_ON_WRITE")
    often = {"hoodie.metadata.compact.max.delta.commits": "2"}
    table.insert(rows(0, 20), often)
    table.services.index("low", "name", using="column_stats", options={"expr": "lower"})
    table.upsert(rows(0, 2, ts=1), often)
    folder = ".hoodie/metadata"
    [log, *_] = [file.path for file in table.storage.list(f"{folder}/expr_index_low") if "log.1_0" in file.name or "log.1_1" in file.name]
    table.storage.create(f"{folder}/column_stats/{log.rpartition('/')[2]}", table.storage.read(log))
    for turn in range(2, 6):
        table.upsert(rows(0, turn, ts=turn), often)
        assert table.inspect.health().to_pylist() == []
        assert table.to_arrow(columns=["id"], filter=f"ts = {turn}").num_rows == turn
    names = [file.name for file in table.storage.list(f"{folder}/column_stats")]
    assert [name for name in names if "expr" in name] == [log.rpartition("/")[2]]


@pytest.mark.parametrize("is_first", [True, False])
def test_rows_whose_value_has_no_result_are_written_read_and_not_skipped(tmp_path, is_first) -> None:
    table = HudiTable.create(str(tmp_path / "t"), pa.schema([("id", pa.int64()), ("l", pa.int64())]), name="t", keys=("id",))
    alone = {"hoodie.parquet.small.file.limit": "0"}
    table.insert([{"id": 1, "l": 0}], alone)
    if is_first:
        table.insert([{"id": 2, "l": 2**62}, {"id": 3, "l": 1}], alone)
    table.services.index("e", "l", using="column_stats", options={"expr": "from_unixtime", "format": "yyyy"})
    if not is_first:
        table.insert([{"id": 2, "l": 2**62}, {"id": 3, "l": 1}], alone)
    assert [(stats.minimum, stats.maximum) for stats in statistics(table, "expr_index_e")] == [("1970", "1970")]
    for text, result in {"= '1970'": [1, 3], "< '1971'": [1, 3], "<> '1970'": [], "> '1970'": []}.items():
        assert sorted(table.to_arrow(filter=f"from_unixtime(l, 'yyyy') {text}").column("id").to_pylist()) == result
    assert table.to_arrow(filter="l > 5").column("id").to_pylist() == [2]
    assert table.inspect.health().to_pylist() == []


def test_days_of_more_than_32_bits_are_refused(tmp_path) -> None:
    table = HudiTable.create(str(tmp_path / "t"), pa.schema([("id", pa.int64()), ("d", pa.date32())]), name="t", keys=("id",))
    table.insert([{"id": 1, "d": date(2024, 1, 1)}])
    with pytest.raises(OptionError, match="days is '3000000000', which is no whole number of 32 bits"):
        table.services.index("e", "d", using="column_stats", options={"expr": "date_add", "days": "3000000000"})
    with pytest.raises(UsageError, match="days '99999999999', which is not served"):
        table.to_arrow(filter="date_add(d, 99999999999) > DATE '2024-01-01'")
