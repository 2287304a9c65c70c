"""CALL run_bootstrap, show_bootstrap_mapping, show_bootstrap_partitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import OptionError, TableExists, TableNotFound, UnsupportedError, UsageError
from tests.bootstrapped import SELECTOR, all_amounts, amounts, bootstrap, write_source

pytestmark = pytest.mark.spark


def call(spark: SparkSession, text: str) -> list[dict[str, object]]:
    return [row.asDict() for row in spark.sql(f"CALL {text}").collect()]


def test_a_table_is_bootstrapped_and_its_index_shown(spark: SparkSession, tmp_path: Path) -> None:
    source, path = write_source(tmp_path / "plain"), tmp_path / "rides"
    (tmp_path / "props").write_text(f"{SELECTOR}.regex=[lo].*\n")
    stated = (
        f"run_bootstrap(table => 'db.rides', table_type => 'MERGE_ON_READ', bootstrap_path => '{source}', base_path => '{path}',"
        " rowKey_field => 'id', partition_path_field => 'city', ordering_fields => 'ts', selector_class =>"
        " 'org.apache.hudi.client.bootstrap.selector.BootstrapRegexModeSelector',"
        f" props_file_path => '{tmp_path / 'props'}'"
    )
    for refused in ("bootstrap_overwrite => true", "base_file_format => 'ORC'", "schema_provider_class => 'x'"):
        with pytest.raises(UnsupportedError, match=refused.split()[0]):
            call(spark, f"{stated}, {refused})")
    with pytest.raises(OptionError, match="NONSENSE"):
        call(spark, f"{stated}, options => '{SELECTOR}.regex.mode=NONSENSE')")
    assert not path.exists()
    extractor = "hoodie.datasource.hive_sync.partition_extractor_class=NoSuchExtractor"
    with pytest.raises(OptionError, match="NoSuchExtractor"):
        call(spark, f"{stated}, enable_hive_sync => true, options => '{extractor}')")
    assert not (path / ".hoodie").exists()
    assert call(spark, f"{stated})") == [{"status": 0}]
    assert amounts(HudiTable.open(path)) == all_amounts()
    with pytest.raises(TableExists):
        call(spark, f"{stated})")

    spark.sql(f"CREATE TABLE bootstrapped_rides USING hudi LOCATION '{path}'")
    try:
        assert call(spark, "show_bootstrap_partitions(table => 'bootstrapped_rides')") == [
            {"indexed_partitions": "lima"},
            {"indexed_partitions": "oslo"},
        ]
        assert len(call(spark, f"show_bootstrap_partitions(path => '{path}')")) == 2
        rows = call(spark, "show_bootstrap_mapping(table => 'bootstrapped_rides', sort_by => 'source_file', desc => true)")
        assert [str(row["source_file"]).removeprefix(f"file:{source}/") for row in rows] == [
            *("oslo/b.parquet", "oslo/a.parquet", "lima/b.parquet", "lima/a.parquet")
        ]
        assert {row["source_base_path"] for row in rows} == {str(source)}
        only = f"path => '{path}', partition_path => 'lima', file_ids => '{rows[2]['file_id']}'"
        assert call(spark, f"show_bootstrap_mapping({only})") == [rows[2]]
        assert len(call(spark, "show_bootstrap_mapping(table => 'bootstrapped_rides', limit => 3)")) == 3
        with pytest.raises(UsageError, match="partition_path"):
            call(spark, "show_bootstrap_mapping(table => 'bootstrapped_rides', file_ids => 'x')")
        with pytest.raises(TableNotFound, match="rome"):
            call(spark, "show_bootstrap_mapping(table => 'bootstrapped_rides', partition_path => 'rome')")
        assert spark.sql("SELECT * FROM bootstrapped_rides WHERE amount > 45").count() == 14
    finally:
        spark.sql("DROP TABLE bootstrapped_rides")


def test_a_table_that_was_not_bootstrapped_has_no_index(spark: SparkSession, tmp_path: Path) -> None:
    copied = bootstrap(tmp_path / "rides", write_source(tmp_path / "plain"), {SELECTOR: "FullRecordBootstrapModeSelector"})
    assert call(spark, f"show_bootstrap_mapping(path => '{copied.storage.uri}')") == []
