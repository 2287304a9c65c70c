"""Tables written by Apache Hudi, read by the scan: equal to what Apache Hudi read itself, and to the local reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError
from pyhudi.schema.meta_columns import META_COLUMNS
from tests.tables import BASE_ONLY, LANCE, WITH_LOGS

pytestmark = pytest.mark.spark

FixtureTable = Callable[[str], Path]
HIT_SCHEMA = [name for name in BASE_ONLY if name.startswith("apache_hudi/")]
OTHERS = [name for name in BASE_ONLY if name not in HIT_SCHEMA]
READ_OPTIMIZED = {"hoodie.datasource.query.type": "read_optimized"}


def load(spark: SparkSession, path: Path, **options: str) -> DataFrame:
    return spark.read.format("hudi").options(**options).load(str(path))


def rows(table: pa.Table, columns: list[str]) -> list[str]:
    return sorted(map(repr, table.select(columns).to_pylist()))


@pytest.mark.parametrize("name", HIT_SCHEMA)
def test_rows_are_those_that_apache_hudi_read(spark: SparkSession, name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(name)
    expected = pq.read_table(path.parent / f"{path.name}.expected.parquet")
    result = load(spark, path).toArrow()
    assert result.column_names == expected.column_names
    timestamps = HudiTable.open(path).config.partition_fields if "timestamp_partitions" in name else ()
    if "encoded_partitions" in name:
        assert "" in result["city"].to_pylist()
        result = with_nulls(result, "city")
    assert rows(as_texts(result, timestamps), result.column_names) == rows(expected, result.column_names)


def with_nulls(result: pa.Table, column: str) -> pa.Table:
    """The empty text of a partition column as Apache Hudi reads it."""
    values = pc.if_else(pc.equal(result[column], ""), None, result[column])
    return result.set_column(result.column_names.index(column), column, values)


def as_texts(result: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Numbers of a timestamp-based key generator as Apache Hudi's DataFrame shows them: their digits."""
    for column in columns:
        result = result.set_column(result.column_names.index(column), column, result[column].cast(pa.string()))
    return result


@pytest.mark.parametrize("name", [*OTHERS, *WITH_LOGS])
def test_rows_are_those_of_the_local_reader(spark: SparkSession, name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(name)
    is_optimized = name in WITH_LOGS
    local = HudiTable.open(path).to_arrow(mode="read_optimized" if is_optimized else "snapshot", meta_columns=True)
    result = load(spark, path, **(READ_OPTIMIZED if is_optimized else {})).toArrow()
    common_columns = [column for column in local.column_names if column in result.column_names]
    assert result.column_names == common_columns
    assert {column for column in local.column_names if column not in common_columns} == missing(local, name)
    compared = [column for column in common_columns if not is_text_of_path(path, column)]
    assert rows(result, compared) == rows(local, compared)


def missing(local: pa.Table, name: str) -> set[str]:
    """The meta columns of a table that has none: absent on Spark as in Apache Hudi, null in the local reader."""
    has_meta = local.num_rows == 0 or any(local["_hoodie_record_key"].is_valid().to_pylist())
    return set() if has_meta else set(META_COLUMNS)


def is_text_of_path(path: Path, column: str) -> bool:
    """Numbers under a timestamp-based generator, for which the table's schema says text, show the path's text on Spark."""
    table = HudiTable.open(path)
    is_field = table.config.key_generator.family.value == "TIMESTAMP" and column in table.config.partition_fields
    return is_field and pa.types.is_string(table.schema.field(column).type)


def test_numbers_that_the_table_calls_strings_show_the_text_of_the_path(spark: SparkSession, fixture_table: FixtureTable) -> None:
    path = fixture_table("cow/v9_timebasedkeygen_epochmillis")
    (field,) = HudiTable.open(path).config.partition_fields
    for row in load(spark, path).select("_hoodie_partition_path", field).collect():
        assert row[0] in {row[1], f"{field}={row[1]}"}


@pytest.mark.parametrize("name", LANCE)
def test_table_of_lance_files_is_refused_by_name(spark: SparkSession, name: str, fixture_table: FixtureTable) -> None:
    with pytest.raises(UnsupportedError, match="LANCE"):
        load(spark, fixture_table(name))
