"""CREATE INDEX, DROP INDEX and SHOW INDEXES."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import SchemaError, UsageError
from pyhudi.kernels.history import load_full_timeline
from pyhudi.metadata_table.table import MetadataTable


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    location = tmp_path_factory.mktemp("indexed") / "rides"
    spark.sql(f"""CREATE TABLE indexed_rides (id STRING, city STRING, rider STRING, at TIMESTAMP, ts BIGINT) USING hudi
        TBLPROPERTIES (primaryKey = 'id', orderingFields = 'ts') PARTITIONED BY (city) LOCATION '{location}'""")
    spark.sql("INSERT INTO indexed_rides VALUES ('a', 'Ann', timestamp'2026-01-31 23:30:00', 1, 'oslo'), ('b', NULL, NULL, 1, 'rome')")
    yield str(location)
    spark.sql("DROP TABLE indexed_rides")


def shown(spark: SparkSession) -> dict[str, tuple[str, str]]:
    return {row.index_name: (row.index_type, row.col_name) for row in spark.sql("SHOW INDEXES FROM indexed_rides").collect()}


def opened(location: str) -> MetadataTable:
    table = HudiTable.open(location)
    return MetadataTable.open(table.storage, table.config, load_full_timeline(table.storage, table.config))


def test_indexes_are_made_followed_shown_and_dropped(spark: SparkSession, table: str) -> None:
    assert shown(spark).keys() == {"column_stats", "partition_stats"}
    assert spark.sql("CREATE INDEX record_index ON indexed_rides (id)").collect() == []
    spark.sql("CREATE INDEX by_rider ON TABLE indexed_rides (RIDER)")
    spark.sql("CREATE INDEX by_month ON indexed_rides USING column_stats(at) OPTIONS(expr='date_format', format='yyyy-MM')")
    spark.sql("CREATE INDEX low ON indexed_rides USING bloom_filters(rider) OPTIONS(expr='lower', fpp='0.01')")
    spark.sql("CREATE INDEX IF NOT EXISTS by_rider ON indexed_rides (rider)")
    assert shown(spark) | {"column_stats": None, "partition_stats": None} == {
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
    metadata = opened(table)
    assert metadata.lookup_record_keys(["a", "b", "c"]).keys() == {"b", "c"}
    assert metadata.record_keys_of("secondary_index_by_rider", ["Ann", "Bob", "Cid", None]) == {"Bob": ["b"], "Cid": ["c"]}
    spark.sql("DROP INDEX by_month ON indexed_rides")
    spark.sql("DROP INDEX IF EXISTS by_month ON indexed_rides")
    spark.sql("DROP INDEX expr_index_low ON TABLE indexed_rides")
    assert shown(spark).keys() == {"column_stats", "partition_stats", "record_index", "secondary_index_by_rider"}


def test_index_that_cannot_be_is_refused(spark: SparkSession, table: str) -> None:
    with pytest.raises(SchemaError, match="Did you mean 'rider'"):
        spark.sql("CREATE INDEX x ON indexed_rides (riders)")
    with pytest.raises(UsageError, match="there is no index 'y'"):
        spark.sql("DROP INDEX y ON indexed_rides")


def test_show_indexes_of_other_tables_is_sparks_own_error(spark: SparkSession) -> None:
    with pytest.raises(ParseException):
        spark.sql("SHOW INDEXES FROM no_such_table")
