"""Every type of Spark, written by pyhudi's Spark writer and read by Apache Hudi, and the other way round."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.interop.reference import ReferenceHudi
from tests.spark.test_types import SERVED, every_type

#: Apache Hudi cannot write lists that hold a null.
NULLS_IN_LISTS = {"numbers", "nested_lists", "times", "structs", "lists_of_maps"}


def reference_answer(reference: ReferenceHudi, path: Path, name: str, columns: list[str]) -> list[tuple[Any, ...]]:
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    return [tuple(row.values()) for row in reference.sql(f"SELECT id, {', '.join(strings(columns))} FROM {name} ORDER BY id").to_pylist()]


def strings(columns: Iterable[str]) -> list[str]:
    """Values as texts, which both sides show alike; Apache Hudi keeps no order in maps."""
    expressions = {"bytes": "hex(bytes)", "map_of_structs": "array_sort(map_entries(map_of_structs))"}
    return [f"CAST({expressions.get(name, name)} AS STRING) AS {name}" for name in columns]


def test_apache_hudi_reads_every_type_that_pyhudi_writes(reference: ReferenceHudi, spark: SparkSession, tmp_path: Path) -> None:
    rows = every_type(spark)
    expected = [tuple(row) for row in rows.selectExpr("id", *strings(SERVED)).orderBy("id").collect()]
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", "hoodie.datasource.write.table.type": kind}
        for part in (rows, rows.where("id = 1")):  # the second upsert of a merge-on-read table goes to a log
            part.write.format("hudi").options(**options).mode("append").save(str(tmp_path / kind))
        read = reference_answer(reference, tmp_path / kind, f"types_{kind.lower()}", list(SERVED))
        differ = {name: pair for name, *pair in zip(SERVED, read[0][1:], expected[0][1:], strict=True) if pair[0] != pair[1]}
        assert differ == {}, kind
        assert read[1:] == expected[1:]


def test_pyhudi_reads_every_type_that_apache_hudi_writes(reference: ReferenceHudi, spark: SparkSession, tmp_path: Path) -> None:
    columns = {name: value for name, value in SERVED.items() if name not in NULLS_IN_LISTS}
    rows = spark.sql(f"SELECT {', '.join(f'{value} AS {name}' for name, value in columns.items())}")
    definition = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in rows.schema.fields)
    (expected,) = rows.selectExpr(*strings(columns)).collect()
    for kind in ("cow", "mor"):
        properties = f"TBLPROPERTIES (primaryKey = 'id', type = '{kind}') LOCATION '{tmp_path / kind}'"
        reference.sql(
            f"CREATE TABLE back_{kind} (id INT, {definition}) USING hudi {properties}",
            f"INSERT INTO back_{kind} SELECT 1, {', '.join(columns.values())}",
            f"UPDATE back_{kind} SET flag = flag WHERE id = 1",  # the second version of a merge-on-read row is in a log
        )
        (read,) = spark.read.format("hudi").load(str(tmp_path / kind)).selectExpr(*strings(columns)).collect()
        assert {name: read[name] for name in columns} == {name: expected[name] for name in columns}, kind
