"""Apache Hudi bootstraps and pyhudi goes on, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.bootstrapped import HIVE_STYLE, NO_STATISTICS, SELECTOR, all_amounts, amounts, bootstrap, rides, write_source
from tests.interop.reference import ReferenceHudi

SELECTORS = "org.apache.hudi.client.bootstrap.selector"
WRITES = {
    "hoodie.table.name": "rides",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.partitionpath.field": "city",
    **NO_STATISTICS,
}


def reference_bootstraps(reference: ReferenceHudi, path: Path, source: Path, table_type: str, options: Mapping[str, str]) -> HudiTable:
    stated = {
        **WRITES,
        **options,
        "hoodie.datasource.write.operation": "bootstrap",
        "hoodie.datasource.write.table.type": table_type,
        "hoodie.bootstrap.base.path": str(source),
        SELECTOR: f"{SELECTORS}.{options.get(SELECTOR, 'MetadataOnlyBootstrapModeSelector')}",
    }
    reference.write(path, pa.table({}), "overwrite", stated)
    return HudiTable.open(path)


def assert_alike(reference: ReferenceHudi, table: HudiTable, expected: Mapping[str, float]) -> None:
    assert amounts(table) == expected
    read, key = table.to_arrow(meta_columns=True), "_hoodie_record_key"
    theirs = reference.read(table.storage.uri).select(read.column_names)
    assert theirs.sort_by(key).to_pylist() == read.sort_by(key).to_pylist()


MIXED = {SELECTOR: "BootstrapRegexModeSelector", f"{SELECTOR}.regex": ".*oslo"}


@pytest.mark.parametrize(
    ("by_reference", "table_type", "options", "in_folders"),
    [
        (True, "COPY_ON_WRITE", HIVE_STYLE, True),
        pytest.param(True, "MERGE_ON_READ", MIXED, False, marks=pytest.mark.slow),
        pytest.param(False, "COPY_ON_WRITE", MIXED, False, marks=pytest.mark.slow),
        (False, "MERGE_ON_READ", HIVE_STYLE, True),
    ],
)
def test_one_bootstraps_and_both_go_on(
    reference: ReferenceHudi,
    spark: SparkSession,
    tmp_path: Path,
    by_reference: bool,
    table_type: str,
    options: Mapping[str, str],
    in_folders: bool,
) -> None:
    source, path = write_source(tmp_path / "plain", hive_style=in_folders, city_in_files=not in_folders), tmp_path / "rides"
    if by_reference:
        table = reference_bootstraps(reference, path, source, table_type, options)
    else:
        table = bootstrap(path, source, options, table_type)
    of_writes = {**WRITES, **{name: value for name, value in options.items() if not name.startswith("hoodie.bootstrap.")}}
    expected = all_amounts()
    assert_alike(reference, table, expected)

    reference.write(path, rides([1, 70], "lima", 100.0, ts=1), "append", of_writes)
    expected |= {"k1": 100.0, "k70": 100.0}
    assert_alike(reference, table, expected)
    table.upsert(rides([21, 71], "oslo", 7.0, ts=2), NO_STATISTICS)
    table.delete(where="id = 'k41'")
    expected |= {"k21": 7.0, "k71": 7.0}
    del expected["k41"]
    assert_alike(reference, table, expected)
    key = "_hoodie_record_key"
    on_spark = spark.read.format("hudi").load(str(path)).orderBy(key).collect()
    assert [row.asDict() for row in on_spark] == table.to_arrow(meta_columns=True).sort_by(key).to_pylist()

    if table_type == "MERGE_ON_READ":
        table.services.compact()
    table.services.cluster(mode="schedule")
    reference.sql(f"CALL run_clustering(path => '{path}', op => 'execute')", conf=NO_STATISTICS)
    assert_alike(reference, table, expected)
    table.upsert(rides([2], "lima", 3.0, ts=3), NO_STATISTICS)
    table.services.clean(options={"hoodie.clean.commits.retained": "1"})
    expected["k2"] = 3.0
    assert_alike(reference, table, expected)
    assert table.inspect.verify().num_rows == 0
    assert len(list(source.rglob("*.parquet"))) == 6
