"""Sources as other programs write them: names of folders and columns, types of texts, columns without nulls."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import SchemaError, UnsupportedError
from tests.bootstrapped import HIVE_STYLE, SELECTOR

FULL = {SELECTOR: "FullRecordBootstrapModeSelector"}
TEXTS = {
    "large": pa.large_string(),
    "view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "large dictionary": pa.dictionary(pa.int32(), pa.large_string()),
}


def write(folder: Path, files: Mapping[str, pa.Table]) -> Path:
    for name, rows in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, folder / name)
    return folder


def bootstrapped(path: Path, source: Path, options: Mapping[str, str] | None = None, partition: str = "city") -> HudiTable:
    return HudiTable.bootstrap(path, source, name="t", keys=["id"], partition_by=[partition], table_type="MERGE_ON_READ", options=options)


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_of_polars_and_pandas(tmp_path: Path, kind: str) -> None:
    """They store Arrow's type with the file, by which Arrow reads it."""

    def stored(*values: str | None) -> pa.Array:
        plain = pa.array(values, pa.string())
        return plain.cast(TEXTS[kind]) if "dictionary" in kind else pa.array(values, TEXTS[kind])

    rows = pa.table({"id": stored("a", "b", "c"), "city": stored("oslo", "oslo", "oslo"), "x": stored("u", None, "w"), "n": [1, 2, 3]})
    source = write(tmp_path / "plain", {"oslo/a.parquet": rows})
    table = bootstrapped(tmp_path / "t", source)
    assert table.schema.field("x").type == pa.string()
    conditions = {"x = 'u'": 1, "x IS NULL": 1, "id > 'a' AND _hoodie_record_key < 'c'": 1, "x IN ('u', 'w')": 2}
    assert {condition: table.to_arrow(filter=condition).num_rows for condition in conditions} == conditions
    table.upsert([{"id": "a", "city": "oslo", "x": "z", "n": 9}])
    assert sorted(table.to_arrow(columns=["n"], filter="x IN ('w', 'z')")["n"].to_pylist()) == [3, 9]
    table.services.compact()
    table.services.cluster()
    assert sorted(zip(*table.to_arrow(columns=["id", "x", "n"]).to_pydict().values(), strict=True)) == [
        ("a", "z", 9),
        ("b", None, 2),
        ("c", "w", 3),
    ]


def test_partitions_whose_names_begin_with_an_underscore(tmp_path: Path) -> None:
    null = pa.table({"id": [1], "city": pa.array([None], pa.string())})
    oslo, hidden = (pa.table({"id": [number], "city": ["oslo"]}) for number in (2, 3))
    source = write(
        tmp_path / "nulls", {"__HIVE_DEFAULT_PARTITION__/a.parquet": null, "oslo/a.parquet": oslo, "_temporary/a.parquet": hidden}
    )
    table = bootstrapped(tmp_path / "null_city", source)
    assert sorted(table.to_arrow(columns=["id"])["id"].to_pylist()) == [1, 2]
    table.upsert([{"id": 1, "city": None}])
    assert table.count() == 2
    days = {f"_day={day}/a.parquet": pa.table({"id": [day]}) for day in (1, 2)}
    table = bootstrapped(tmp_path / "days", write(tmp_path / "plain", days), HIVE_STYLE, partition="_day")
    assert sorted(map(tuple, (row.values() for row in table.to_arrow().to_pylist()))) == [(1, 1), (2, 2)]


@pytest.mark.parametrize("mode", [{}, FULL], ids=["skeletons", "copies"])
def test_columns_whose_names_differ_in_case_are_refused_and_not_read_as_nulls(tmp_path: Path, mode: dict[str, str]) -> None:
    files = {f"oslo/{name}.parquet": pa.table({"id": [number], "city": ["oslo"], name: [1]}) for number, name in enumerate("Xx")}
    with pytest.raises(SchemaError, match=r"oslo/x\.parquet.*column 'x' is 'X' in them"):
        bootstrapped(tmp_path / "t", write(tmp_path / "plain", files), mode)
    assert not (tmp_path / "t").exists()


def test_a_column_allows_nulls_when_one_file_may_have_some_or_lacks_it(tmp_path: Path) -> None:
    required = [pa.field(name, pa.int64(), nullable=False) for name in ("id", "a", "b")]
    city = pa.field("city", pa.string(), nullable=False)
    files = {
        "oslo/1.parquet": pa.table({"id": [1], "a": [1], "b": [1], "city": ["oslo"]}, pa.schema([*required, city])),
        "oslo/2.parquet": pa.table({"id": [2], "a": [None], "city": ["oslo"]}, pa.schema([required[0], pa.field("a", pa.int64()), city])),
    }
    table = bootstrapped(tmp_path / "t", write(tmp_path / "plain", files))
    assert [field.nullable for field in table.schema] == [False, True, True, False]
    assert sorted(table.to_arrow(columns=["id", "a", "b"]).to_pylist(), key=lambda row: row["id"])[1] == {"id": 2, "a": None, "b": None}


def test_skeletons_hold_record_keys(tmp_path: Path) -> None:
    source = write(tmp_path / "plain", {"oslo/a.parquet": pa.table({"id": [1], "city": ["oslo"]})})
    without = {"hoodie.populate.meta.fields": "false"}
    with pytest.raises(UnsupportedError, match="a skeleton is a file of record keys"):
        bootstrapped(tmp_path / "t", source, without)
    assert not (tmp_path / "t").exists()
    assert bootstrapped(tmp_path / "t", source, {**without, **FULL}).count() == 1


@pytest.mark.parametrize("options", [{}, FULL], ids=["skeletons", "copies"])
@pytest.mark.parametrize("kind", ["date", "decimal"])
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_column_that_is_text_in_one_file_is_text_in_the_table_whichever_file_is_first(
    tmp_path: Path, kind: str, order: str, options: Mapping[str, str]
) -> None:
    value = datetime.date(2026, 1, 2) if kind == "date" else Decimal("1.50")
    columns = {"1": value, "2": "text"}
    both = {
        name: {"id": [id_], "city": ["oslo"], "v": [v], "s": [{"l": [v]}]} for name, (id_, v) in zip(order, columns.items(), strict=True)
    }
    source = write(tmp_path / "plain", {f"oslo/{name}.parquet": pa.table(rows) for name, rows in both.items()})
    table = bootstrapped(tmp_path / "t", source, options)
    rows = {row["id"]: (row["v"], row["s"]) for row in table.to_arrow(columns=["id", "v", "s"]).to_pylist()}
    assert rows == {id_: (str(v), {"l": [str(v)]}) for id_, v in columns.items()}


@pytest.mark.parametrize("options", [{}, FULL], ids=["skeletons", "copies"])
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_texts_beside_bytes_and_times_beside_instants_have_one_type_whichever_file_is_first(
    tmp_path: Path, order: str, options: Mapping[str, str]
) -> None:
    instant = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
    plain = pa.table({"id": ["1"], "city": ["oslo"], "v": ["\u00e9"], "at": pa.array([instant], pa.timestamp("us"))})
    other = pa.table({"id": ["2"], "city": ["oslo"], "v": pa.array([b"\xff"]), "at": pa.array([instant], pa.timestamp("us", "UTC"))})
    source = write(tmp_path / "plain", {f"oslo/{name}.parquet": rows for name, rows in zip(order, (plain, other), strict=True)})
    table = bootstrapped(tmp_path / "t", source, options)
    rows = {row["id"]: (row["v"], row["at"]) for row in table.to_arrow(columns=["id", "v", "at"]).to_pylist()}
    assert rows == {"1": (b"\xc3\xa9", instant), "2": (b"\xff", instant)}


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_keys_that_are_text_in_one_file_and_bytes_in_another_are_refused(tmp_path: Path, order: str) -> None:
    keys = [pa.array(["1"]), pa.array([b"2"])]
    files = {f"oslo/{name}.parquet": pa.table({"id": key, "city": ["oslo"]}) for name, key in zip(order, keys, strict=True)}
    with pytest.raises(
        SchemaError, match=rf"oslo/{order[0]}\.parquet.*does not fit the other files: Column 'id' is part of the record key"
    ):
        bootstrapped(tmp_path / "t", write(tmp_path / "plain", files))
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("options", [{}, FULL], ids=["skeletons", "copies"])
def test_times_that_are_stored_as_int96_are_instants(tmp_path: Path, options: Mapping[str, str]) -> None:
    """As Spark and Hive store them."""
    at = pa.array([datetime.datetime(1850, 1, 1, 0, 0, 0, 7), datetime.datetime(2500, 1, 1)], pa.timestamp("us"))
    nested = pa.StructArray.from_arrays([pa.array([1, 2]), pa.ListArray.from_arrays([0, 1, 2], at), at], ["n", "list", "at"])
    maps = pa.MapArray.from_arrays([0, 1, 2], ["k", "k"], at)
    rows = pa.table({"id": ["1", "2"], "city": ["oslo"] * 2, "at": at, "nested": nested, "map": maps})
    source = write(tmp_path / "plain", {"oslo/a.parquet": rows, "oslo/b.parquet": rows.slice(0, 0)})
    pq.write_table(rows, source / "oslo" / "a.parquet", use_deprecated_int96_timestamps=True)
    table = bootstrapped(tmp_path / "t", source, options)
    assert table.schema.field("at").type == pa.timestamp("us", "UTC")
    first, second = (value.replace(tzinfo=datetime.UTC) for value in at.to_pylist())
    assert table.to_arrow(columns=["at", "nested", "map"], filter="at < '2500-01-01'").to_pylist() == [
        {"at": first, "nested": {"n": 1, "list": [first], "at": first}, "map": [("k", first)]}
    ]
    table.upsert(table.to_arrow().slice(0, 1))
    table.services.compact()
    assert sorted(table.to_arrow(columns=["at"])["at"].to_pylist()) == [first, second]


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("number", [10**12, 1.239])
def test_decimals_and_other_numbers_in_one_column_are_refused_before_there_is_a_table(tmp_path: Path, number: float, order: str) -> None:
    both = {order[0]: {"id": ["1"], "city": ["oslo"], "v": [Decimal("1.50")]}, order[1]: {"id": ["2"], "city": ["oslo"], "v": [number]}}
    source = write(tmp_path / "plain", {f"oslo/{name}.parquet": pa.table(rows) for name, rows in both.items()})
    with pytest.raises(SchemaError, match=r"oslo/b\.parquet.*'v' has type.*decimal128.*neither holds"):
        bootstrapped(tmp_path / "t", source)
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_statistics_of_meta_columns_are_those_of_skeletons(tmp_path: Path, table_type: str) -> None:
    """Sources that are base files of another table have such columns, too: filters ruled out all files by these."""
    others = {f"_hoodie_{name}": ["9"] for name in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")}
    files = {f"oslo/{key}.parquet": pa.table({**others, "id": [key], "city": ["oslo"]}) for key in map(str, range(8))}
    source = write(tmp_path / "plain", files)
    table = HudiTable.bootstrap(tmp_path / "t", source, name="t", keys=["id"], partition_by=["city"], table_type=table_type)
    table.upsert([{"id": "0", "city": "oslo"}])
    table = HudiTable.open(tmp_path / "t")
    for condition, count in (("_hoodie_record_key = '7'", 1), ("_hoodie_commit_time = '00000000000001'", 7), ("id = '7'", 1)):
        assert table.count(filter=condition) == table.to_arrow(filter=condition).num_rows == count, condition
    assert table.inspect.verify().num_rows == 0
