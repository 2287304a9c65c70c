"""What a base file is for other readers: types, footer, row groups; and what is refused."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.errors import OptionError
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.kernels.base_file.meta_column_writer import numbered
from pyhudi.kernels.base_file.size_estimate import row_bytes
from tests.unit.kernels.conftest import SMALL_FILTER, Group, keyed, record_context_of


def parquet(group: Group) -> pq.ParquetFile:
    assert group.base is not None
    return pq.ParquetFile(io.BytesIO(group.storage.read(group.base.path)))


def footer(group: Group) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in parquet(group).metadata.metadata.items()}


def test_footer_holds_what_hudi_puts_there_with_a_checksum_and_nothing_of_arrow(group: Group) -> None:
    group.write(keyed(pa.table({"id": [3, 20, 1], "v": ["a", "b", "c"]})))
    entries = footer(group)
    assert set(entries) == {
        "parquet.avro.schema",
        "org.apache.hudi.bloomfilter",
        "hoodie_bloom_filter_type_code",
        "hoodie_min_record_key",
        "hoodie_max_record_key",
        "pyhudi.footer.crc",
    }
    assert (entries["hoodie_min_record_key"], entries["hoodie_max_record_key"]) == ("1", "3")
    assert entries["hoodie_bloom_filter_type_code"] == "DYNAMIC_V0"
    fields = [field["name"] for field in json.loads(entries["parquet.avro.schema"])["fields"]]
    assert fields == parquet(group).schema_arrow.names


def test_file_without_rows_has_a_filter_but_no_key_range(group: Group) -> None:
    group.write(keyed(pa.table({"id": pa.array([], pa.int64()), "v": pa.array([], pa.string())})))
    assert "hoodie_min_record_key" not in footer(group)
    assert "org.apache.hudi.bloomfilter" in footer(group)
    assert parquet(group).num_row_groups == 0


def test_key_range_shrinks_with_the_rows(group: Group) -> None:
    group.write(keyed(pa.table({"id": [1, 5, 9], "v": ["a", "b", "c"]})))
    group.write(pa.table({"_hoodie_record_key": ["1", "9"], "_pyhudi_delete": [True, True]}))
    assert (footer(group)["hoodie_min_record_key"], footer(group)["hoodie_max_record_key"]) == ("5", "5")


def test_simple_filter_is_written_without_a_type_and_no_filter_without_a_key_range() -> None:
    rows = keyed(pa.table({"id": [1], "v": ["a"]}))
    simple = Group(record_context_of(rows.drop_columns("_hoodie_record_key").schema), settings=WriterSettings(bloom_type="SIMPLE"))
    simple.write(rows)
    assert "hoodie_bloom_filter_type_code" not in footer(simple)
    none = Group(simple.context, settings=WriterSettings(bloom_enabled=False))
    none.write(rows)
    assert set(footer(none)) == {"parquet.avro.schema", "pyhudi.footer.crc"}


def test_physical_types_are_those_of_hudi_s_spark_writer() -> None:
    schema = pa.schema(
        {
            "i": pa.int32(),
            "d": pa.decimal128(15, 2),
            "t": pa.timestamp("us", "UTC"),
            "n": pa.timestamp("us"),
            "l": pa.list_(pa.string()),
            "m": pa.map_(pa.string(), pa.int64()),
        }
    )
    group = Group(record_context_of(schema))
    group.write(schema.empty_table().append_column("_hoodie_record_key", pa.array([], pa.string())))
    columns = {parquet(group).schema.column(index).path: parquet(group).schema.column(index) for index in range(12)}
    assert columns["i"].physical_type == "INT32"
    assert (columns["d"].physical_type, columns["d"].length) == ("FIXED_LEN_BYTE_ARRAY", 7)
    assert "isAdjustedToUTC=true, timeUnit=microseconds" in str(columns["t"].logical_type)
    assert "isAdjustedToUTC=false, timeUnit=microseconds" in str(columns["n"].logical_type)
    assert "l.list.element" in columns
    assert "m.key_value.key" in columns
    assert columns["_hoodie_record_key"].converted_type == "UTF8"


def test_keys_are_written_plain_and_constants_as_dictionaries(group: Group) -> None:
    count = 20_000
    group.write(keyed(pa.table({"id": range(count), "v": ["a", "b"] * (count // 2)})))
    chunks = {chunk["path_in_schema"]: chunk for chunk in parquet(group).metadata.row_group(0).to_dict()["columns"]}
    assert [path for path, chunk in chunks.items() if chunk["has_dictionary_page"]] == [
        "_hoodie_commit_time",
        "_hoodie_partition_path",
        "_hoodie_file_name",
        "v",
    ]
    assert {chunk["compression"] for chunk in chunks.values()} == {"ZSTD"}


def test_row_groups_are_bounded_in_bytes_and_not_made_small_by_small_batches() -> None:
    rows = keyed(pa.table({"id": range(10_000), "v": ["x" * 100] * 10_000}))
    settings = WriterSettings(row_group_bytes=400_000, bloom_entries=1000, bloom_max_entries=1000)
    group = Group(record_context_of(pa.schema({"id": pa.int64(), "v": pa.string()})), settings=settings)
    group.write(rows.to_batches(max_chunksize=100))
    groups = parquet(group).metadata
    sizes = [groups.row_group(number).num_rows for number in range(groups.num_row_groups)]
    assert sum(sizes) == 10_000
    assert 3 <= len(sizes) <= 8
    group.write(keyed(pa.table({"id": [1], "v": ["new"]})))
    assert parquet(group).metadata.num_row_groups <= len(sizes) + 1


@pytest.mark.parametrize("nan_group", [0, 1, 3, None])
def test_reals_have_bounds_in_the_row_groups_without_nan(nan_group: int | None) -> None:
    values = [float(number) for number in range(10_000)]
    rows = keyed(pa.table({"id": range(10_000), "x": values, "v": ["x" * 100] * 10_000}))
    schema = pa.schema({"id": pa.int64(), "x": pa.float64(), "v": pa.string()})
    group = Group(record_context_of(schema), settings=WriterSettings(row_group_bytes=400_000))
    group.write(rows)
    sizes = [parquet(group).metadata.row_group(number).num_rows for number in range(4)]
    if nan_group is not None:
        values[sum(sizes[:nan_group]) + 7] = float("nan")
        group.base = None
        group.write(rows.set_column(1, "x", pa.array(values)))
    metadata = parquet(group).metadata
    columns = [metadata.row_group(number).column(metadata.schema.names.index("x")) for number in range(metadata.num_row_groups)]
    # Arrow leaves a column without bounds in all row groups when the first one has NaN.
    without = [] if nan_group is None else range(len(columns)) if nan_group == 0 else [nan_group]
    assert [number for number, column in enumerate(columns) if not column.is_stats_set] == [*without]
    assert [number for number, column in enumerate(columns) if not column.has_column_index] == [*without]
    assert all(column.has_offset_index for column in columns)
    assert str([row["x"] for row in group.read()]) == str(values)
    assert footer(group)["hoodie_max_record_key"] == "9999"


@pytest.mark.parametrize("codec", ["gzip", "snappy", "uncompressed"])
def test_codec_is_the_one_asked_for(codec: str, group: Group) -> None:
    group.settings = WriterSettings(compression=codec, bloom_entries=1000, bloom_max_entries=1000)
    group.write(keyed(pa.table({"id": [1], "v": ["a"]})))
    assert parquet(group).metadata.row_group(0).column(0).compression.lower() == codec


def test_unknown_codec_is_refused_with_those_that_are_served() -> None:
    with pytest.raises(OptionError, match=r"lzo.*zstd"):
        WriterSettings(compression="lzo")


def test_row_size_is_estimated_within_a_fifth_of_the_file(group: Group) -> None:
    rows = keyed(pa.table({"id": range(50_000), "v": [f"value-{number % 997}" for number in range(50_000)]}))
    group.write(rows)
    metadata = parquet(group).metadata.row_group(0)
    real = sum(metadata.column(index).total_compressed_size for index in range(metadata.num_columns)) / 50_000
    assert row_bytes(rows, SMALL_FILTER) == pytest.approx(real, rel=0.2)


def test_row_size_of_no_rows_is_nothing(group: Group) -> None:
    assert row_bytes(keyed(group.context.schema.empty_table()), SMALL_FILTER) == 0


@pytest.mark.parametrize(
    ("start", "count"), [(0, 0), (0, 12), (8, 3), (99, 2), (990, 2020), (9_999, 2), (345_678, 1500), (999_999, 2), (2**33, 2)]
)
def test_numbered_strings_are_those_of_the_numbers(start: int, count: int) -> None:
    for prefix in ("p_", ""):
        made = numbered(prefix, start, count)
        made.validate(full=True)
        assert made.to_pylist() == [f"{prefix}{number}" for number in range(start, start + count)]
