"""Columns that pyhudi widened, of every pair of types, in every kind of column: Apache Hudi reads the same rows and continues the table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.interop.promoted_recipes import BUCKETS, KEYED, OWN_FILES, ROWS, promoted_rows
from tests.interop.reference import ReferenceHudi
from tests.interop.test_promoted_types import on_spark, theirs
from tests.unit.table.test_promoted_tables import strings

#: In CI a table of each type, one written by each engine; the others are long proofs.
CASES = [
    pytest.param(
        version, logs, engine, marks=() if (version, logs, engine) in ((9, "", "spark"), (6, "avro", "local")) else pytest.mark.slow
    )
    for version in (6, 8, 9)
    for logs in ("", "avro", "parquet")
    for engine in ("local", "spark")
]


@pytest.mark.parametrize(("version", "logs", "engine"), CASES)
def test_columns_that_we_widen_are_read_and_continued_by_apache_hudi(
    version: int, logs: str, engine: str, reference: ReferenceHudi, spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    given = {"hoodie.table.name": "t", "hoodie.write.table.version": str(version), "pyhudi.engine": engine} | KEYED | OWN_FILES
    if logs:
        given |= BUCKETS | {"hoodie.logfile.data.block.format": logs}
    for rows in (
        promoted_rows("a", ROWS, 1, wide=False),
        promoted_rows("a", ROWS - 3, 2, wide=False),
        promoted_rows("a", 2, 3, wide=True),
        promoted_rows("b", 2, 3, wide=True),
    ):
        spark.createDataFrame(rows).write.format("hudi").options(**given).mode("append").save(str(path))
    table = HudiTable.open(path)
    rows = table.to_arrow(meta_columns=True)
    assert rows.schema.field("part").type.field("float_string").type == pa.string()
    expected = theirs(reference, path)
    assert strings(rows) == strings(on_spark(spark, path)) == strings(expected)
    first = min(row["requested"] for row in table.history().to_pylist())
    assert strings(table.to_arrow(as_of=first)) == strings(theirs(reference, path, as__of__instant=first), *expected.column_names[:5])
    theirs_ = {name: value for name, value in given.items() if not name.startswith("pyhudi.")}
    reference.write(path, promoted_rows("c", 2, 9, wide=True), "append", theirs_)
    after = theirs(reference, path)
    assert after.num_rows == rows.num_rows + 2
    assert strings(HudiTable.open(path).to_arrow(meta_columns=True)) == strings(after)
