"""Wrong input of a bootstrap by the procedure and by the DataFrame writer: one error that names it, and nothing is left.

The command line is in tests/unit/cli/test_guide_bootstrap.py, the method in tests/unit/table/test_bootstrap.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import HudiError, TableExists
from tests.bootstrapped import all_amounts, amounts, bootstrap, write_source

pytestmark = pytest.mark.spark

Door = Callable[[SparkSession, Path, Path, dict[str, str]], None]


def by_procedure(spark: SparkSession, path: Path, source: Path, options: dict[str, str]) -> None:
    given = ",".join(f"{name}={value}" for name, value in options.items())
    spark.sql(
        f"CALL run_bootstrap(table => 'rides', table_type => 'COPY_ON_WRITE', bootstrap_path => '{source}', base_path => '{path}',"
        f" rowKey_field => 'id', partition_path_field => 'city', options => '{given}')"
    ).collect()


def by_data_frame(spark: SparkSession, path: Path, source: Path, options: dict[str, str]) -> None:
    stated = {
        "hoodie.table.name": "rides",
        "hoodie.datasource.write.operation": "bootstrap",
        "hoodie.bootstrap.base.path": str(source),
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        **options,
    }
    spark.range(0).select().write.format("hudi").options(**stated).mode("overwrite").save(str(path))


def _text(source: Path) -> None:
    (source / "oslo" / "c.parquet").write_text("no Parquet")


def _other_file(source: Path) -> None:
    (source / "oslo" / "c.csv").write_text("id\n1\n")


def _link(source: Path) -> None:
    (source / "peru").symlink_to(source / "lima")


def _nothing(source: Path) -> None:
    assert source.exists()


HIVE_STYLE = {"hoodie.datasource.write.hive_style_partitioning": "true"}
WRONG: list[tuple[Callable[[Path], None], dict[str, str], str]] = [
    (_text, {}, r"oslo/c\.parquet.*no Parquet file"),
    (_other_file, {}, r"oslo/c\.csv.*no Parquet file"),
    (_link, {}, "'peru' of .* is a link"),
    (_nothing, HIVE_STYLE, "in the folder 'lima'"),
    (_nothing, {"hoodie.bootstrap.mode.selector": "Mine"}, "a class that pyhudi does not have"),
    (_nothing, {"hoodie.bootstrap.mode.selectors": "x"}, "no option of a bootstrap"),
    (_nothing, {"hoodie.datasource.hive_sync.enable": "true", "hoodie.datasource.hive_sync.partition_extractor_class": "No"}, "extractor"),
    (_nothing, {"hoodie.datasource.hive_sync.enable": "true", "hoodie.meta.sync.client.tool.class": "No"}, "no such tool"),
]


@pytest.mark.parametrize("door", [by_procedure, by_data_frame])
def test_wrong_input_leaves_nothing(spark: SparkSession, tmp_path: Path, door: Door) -> None:
    for number, (change, options, match) in enumerate(WRONG):
        source = write_source(tmp_path / f"plain{number}")
        change(source)
        with pytest.raises(HudiError, match=match):
            door(spark, tmp_path / "new" / "rides", source, options)
        assert not (tmp_path / "new").exists(), match


@pytest.mark.parametrize("door", [by_procedure, by_data_frame])
def test_a_table_that_is_there_and_a_source_that_is_not_apart(spark: SparkSession, tmp_path: Path, door: Door) -> None:
    source = write_source(tmp_path / "plain")
    table = bootstrap(tmp_path / "rides", source)
    with pytest.raises(TableExists, match="already"):
        door(spark, tmp_path / "rides", source, {})
    (tmp_path / "link").symlink_to(source)
    for path, folder in ((tmp_path / "link" / "t", source), (source / "t", tmp_path / "link"), (source, source)):
        with pytest.raises(HudiError, match="two folders"):
            door(spark, path, folder, {})
    assert sorted(one.name for one in source.iterdir()) == ["lima", "oslo", "rome"]
    with pytest.raises(HudiError, match="is a Hudi table"):
        door(spark, tmp_path / "other", tmp_path / "rides", {})
    assert amounts(HudiTable.open(table.storage.uri)) == all_amounts()
