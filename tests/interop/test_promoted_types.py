"""Every pair of types between which Apache Hudi widens, in every place, held value by value against what it reads itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.interop.promoted_recipes import BUCKETS, KEYED, OWN_FILES, promoted_rows, promoted_types, promoted_types_in_logs
from tests.interop.recipes import options
from tests.interop.reference import ReferenceHudi
from tests.unit.table.test_promoted_tables import strings

KINDS = {"copy on write": promoted_types, "merge on read": promoted_types_in_logs}
#: In CI one table of each kind; the other versions are long proofs.
CASES = [
    pytest.param(
        version,
        kind,
        logs,
        marks=() if (version, kind, logs) in ((9, "copy on write", ""), (6, "merge on read", "avro")) else pytest.mark.slow,
    )
    for version in (6, 8, 9)
    for kind, logs in (("copy on write", ""), ("merge on read", "avro"), ("merge on read", "parquet"))
]
#: Of copy-on-write tables: over log files that hold the narrow types Apache Hudi fails to write statistics.
STATISTICS = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}


def theirs(reference: ReferenceHudi, path: Path, **read: str) -> pa.Table:
    reference.sql("SET spark.sql.parquet.enableVectorizedReader=false")
    try:
        return reference.read(path, **read)
    finally:
        reference.sql("SET spark.sql.parquet.enableVectorizedReader=true")


def on_spark(spark: SparkSession, path: Path, **read: str) -> pa.Table:
    return spark.read.format("hudi").options(**{key.replace("__", "."): value for key, value in read.items()}).load(str(path)).toArrow()


@pytest.mark.parametrize(("version", "kind", "logs"), CASES)
def test_widened_table_is_read_and_continued_by_both(
    version: int, kind: str, logs: str, reference: ReferenceHudi, spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    given = options("promoted", version) | ({"hoodie.logfile.data.block.format": logs} if logs else STATISTICS)
    KINDS[kind](reference, path, given)
    table = HudiTable.open(path)
    expected = theirs(reference, path)
    assert strings(table.to_arrow(meta_columns=True)) == strings(on_spark(spark, path)) == strings(expected)
    optimized = {"hoodie__datasource__query__type": "read_optimized"}
    assert strings(table.to_arrow(mode="read_optimized", meta_columns=True)) == strings(on_spark(spark, path, **optimized))
    assert strings(on_spark(spark, path, **optimized)) == strings(theirs(reference, path, **optimized))
    first = min(row["requested"] for row in table.history().to_pylist())
    assert strings(table.to_arrow(as_of=first)) == strings(theirs(reference, path, as__of__instant=first), *expected.column_names[:5])

    rows = table.to_arrow()
    for column, value in _searched(rows):
        condition = pc.field(column) == pa.scalar(value, rows.schema.field(column).type)
        matching_ids = sorted(rows.filter(condition)["id"].to_pylist())
        assert sorted(table.to_arrow(columns=["id"], filter=condition)["id"].to_pylist()) == matching_ids, (column, value)
    conditions = [f"float_double = {0.1!r}D", "float_string = '2.0'", "double_string >= '1.9999999999999998E23'", "id = 'a01'"]
    frame = spark.read.format("hudi").load(str(path))
    for text in conditions:
        ids = sorted(row["id"] for row in frame.where(text).select("id").collect())
        assert ids == sorted(row["id"] for row in rows.to_pylist() if _holds(row, text)) != [], text

    unindexed = {"hoodie.metadata.enable": "false"} if logs else {}
    # Ours, then theirs, over the old files.
    table.upsert(rows.filter(pc.field("id") == "a00"), unindexed)
    if table.config.is_merge_on_read:
        table.services.compact(options={**unindexed, "hoodie.compact.inline.max.delta.commits": "1"})
    assert strings(theirs(reference, path), *expected.column_names[:5]) == strings(HudiTable.open(path).to_arrow()) == strings(rows)
    reference.write(path, promoted_rows("c", 2, 9, wide=True), "append", given | KEYED | OWN_FILES | (BUCKETS if logs else {}))
    after = theirs(reference, path)
    assert after.num_rows == rows.num_rows + 2
    assert strings(HudiTable.open(path).to_arrow(meta_columns=True)) == strings(on_spark(spark, path)) == strings(after)
    assert HudiTable.open(path).inspect.health().num_rows == 0


def _searched(rows: pa.Table) -> list[tuple[str, Any]]:
    """Some values of each column; a column of statistics must not hide them."""
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    return [(name, value) for name in plain for value in list(dict.fromkeys(rows[name].drop_null().to_pylist()))[:3]]


def _holds(row: dict[str, Any], text: str) -> bool:
    column, symbol, value = text.split(" ", 2)
    literal: Any = value.strip("'") if "'" in value else float(value.rstrip("D"))
    present = row[column]
    return present is not None and (present == literal if symbol == "=" else present >= literal)
