"""CREATE INDEX, DROP INDEX and SHOW INDEXES."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import SchemaError, UnsupportedError, UsageError
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.timeline_archive.full_timeline import load_full_timeline


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    location = tmp_path_factory.mktemp("indexed") / "rides"
    spark.sql(f"""CREATE TABLE indexed_rides (id STRING, city STRING, rider STRING, at TIMESTAMP, ts BIGINT) USING hudi
        TBLPROPERTIES (primaryKey = 'id', orderingFields = 'ts') PARTITIONED BY (city) LOCATION '{location}'""")
    spark.sql("INSERT INTO indexed_rides VALUES ('a', 'Ann', timestamp'2026-01-31 23:30:00', 1, 'oslo'), ('b', NULL, NULL, 1, 'rome')")
    yield str(location)
    spark.sql("DROP TABLE indexed_rides")


def index_rows(spark: SparkSession) -> dict[str, tuple[str, str]]:
    return {row.index_name: (row.index_type, row.col_name) for row in spark.sql("SHOW INDEXES FROM indexed_rides").collect()}


def open_metadata(location: str) -> MetadataTable:
    table = HudiTable.open(location)
    return MetadataTable.open(table.storage, table.config, load_full_timeline(table.storage, table.config))


def test_indexes_are_made_followed_shown_and_dropped(spark: SparkSession, table: str) -> None:
    assert index_rows(spark).keys() == {"column_stats", "partition_stats"}
    assert spark.sql("CREATE INDEX record_index ON indexed_rides (id)").collect() == []
    spark.sql("CREATE INDEX by_rider ON TABLE indexed_rides (RIDER)")
    spark.sql("CREATE INDEX by_month ON indexed_rides USING column_stats(at) OPTIONS(expr='date_format', format='yyyy-MM')")
    spark.sql("CREATE INDEX low ON indexed_rides USING bloom_filters(rider) OPTIONS(expr='lower', fpp='0.01')")
    spark.sql("CREATE INDEX IF NOT EXISTS by_rider ON indexed_rides (rider)")
    assert index_rows(spark) | {"column_stats": None, "partition_stats": None} == {
        "column_stats": None,
        "partition_stats": None,
        "record_index": ("record_index", ""),
        "secondary_index_by_rider": ("secondary_index", "rider"),
        "expr_index_by_month": ("column_stats", "at"),
        "expr_index_low": ("bloom_filters", "rider"),
    }
    spark.sql("UPDATE indexed_rides SET rider = 'Bob' WHERE id = 'b'")
    spark.sql("INSERT INTO indexed_rides VALUES ('c', 'Cid', NULL, 1, 'rome')")
    spark.sql("DELETE FROM indexed_rides WHERE id = 'a'")
    metadata = open_metadata(table)
    assert metadata.lookup_record_keys(["a", "b", "c"]).keys() == {"b", "c"}
    assert metadata.record_keys_of("secondary_index_by_rider", ["Ann", "Bob", "Cid", None]) == {"Bob": ["b"], "Cid": ["c"]}
    spark.sql("DROP INDEX by_month ON indexed_rides")
    spark.sql("DROP INDEX IF EXISTS by_month ON indexed_rides")
    spark.sql("DROP INDEX expr_index_low ON TABLE indexed_rides")
    assert index_rows(spark).keys() == {"column_stats", "partition_stats", "record_index", "secondary_index_by_rider"}


def test_index_that_cannot_be_is_refused(spark: SparkSession, table: str) -> None:
    with pytest.raises(SchemaError, match="Did you mean 'rider'"):
        spark.sql("CREATE INDEX x ON indexed_rides (riders)")
    with pytest.raises(UsageError, match="there is no index 'y'"):
        spark.sql("DROP INDEX y ON indexed_rides")


def test_indexes_are_shown_and_refreshed_by_all_of_hudis_spellings(spark: SparkSession, table: str) -> None:
    spark.sql("CREATE INDEX IF NOT EXISTS by_rider ON indexed_rides (rider)")
    named = {row.index_name for row in spark.sql("SHOW INDEXES FROM indexed_rides").collect()}
    for target in ("TABLE indexed_rides", "default.indexed_rides", f"hudi.`{table}`", "indexed_rides ;"):
        assert {row.index_name for row in spark.sql(f"show indexes in {target}").collect()} == named
    assert spark.sql("REFRESH INDEX by_rider ON TABLE indexed_rides").collect() == []
    with pytest.raises(UsageError, match="there is no index 'nope'"):
        spark.sql("REFRESH INDEX nope ON indexed_rides")


def test_index_that_the_next_write_would_delete_or_refuse_is_refused(spark: SparkSession, table: str, tmp_path: Path) -> None:
    spark.conf.set("hoodie.metadata.enable", "false")
    try:
        with pytest.raises(UsageError, match="set it to true first"):
            spark.sql("CREATE INDEX by_ts ON indexed_rides (ts)")
    finally:
        spark.conf.unset("hoodie.metadata.enable")
    with pytest.raises(UsageError, match="options follow all columns"):
        spark.sql("CREATE INDEX by_ts ON indexed_rides (ts OPTIONS (a = 'b'))")
    for function in ("regexp_extract", "to_timestamp", "to_date", "unix_timestamp"):
        with pytest.raises(UsageError, match=f"'{function}' is not served"):
            spark.sql(f"CREATE INDEX x ON indexed_rides USING column_stats(rider) OPTIONS(expr='{function}')")
    with pytest.raises(UsageError, match="'regexp_replace' is not served"):
        spark.sql("CREATE INDEX x ON indexed_rides USING column_stats(rider) OPTIONS(expr='regexp_replace', pattern='D', replacement='E')")
    with pytest.raises(UsageError, match="date_format needs the option 'format'"):
        spark.sql("CREATE INDEX x ON indexed_rides USING column_stats(at) OPTIONS(expr='date_format')")
    spark.sql(f"""CREATE TABLE without_city (id STRING, city STRING) USING hudi PARTITIONED BY (city) LOCATION '{tmp_path / "t"}'
        TBLPROPERTIES (primaryKey = 'id', 'hoodie.datasource.write.drop.partition.columns' = 'true')""")
    with pytest.raises(UnsupportedError, match="'city', a partition column that the files"):
        spark.sql("CREATE INDEX by_city ON without_city (city)")
    spark.sql("INSERT INTO without_city VALUES ('a', 'oslo')")
    spark.sql("DROP TABLE without_city")


def test_key_inside_a_struct_is_that_of_a_table_made_in_sql(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"""CREATE TABLE nested_keys (A STRUCT<K: STRING>, v INT) USING hudi TBLPROPERTIES (primaryKey = 'a.k')
        LOCATION '{tmp_path / "t"}'""")
    spark.sql("INSERT INTO nested_keys VALUES (named_struct('K', 'k1'), 1)")
    spark.sql("UPDATE nested_keys SET v = 2 WHERE A.K = 'k1'")
    assert [tuple(row) for row in spark.sql("SELECT _hoodie_record_key, v FROM nested_keys").collect()] == [("k1", 2)]
    spark.sql("DROP TABLE nested_keys")


def test_show_indexes_of_other_tables_says_what_they_are(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="no_such_table"):
        spark.sql("SHOW INDEXES FROM no_such_table")
    spark.range(1).createOrReplaceTempView("some_view")
    with pytest.raises(UnsupportedError, match="`some_view` is no Hudi table"):
        spark.sql("SHOW INDEXES FROM some_view")
    with pytest.raises(ParseException):
        spark.sql("SHOW INDEXES FROM some_view AS x")
