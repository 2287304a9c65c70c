"""The ways in which Spark reads Parquet files: formats of our own have to serve each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

#: Settings under which Spark reads files otherwise, by what they do.
READERS: Mapping[str, Mapping[str, str]] = {
    "batches": {},
    "splits": {"spark.sql.files.maxPartitionBytes": "20000"},
    "rows": {"spark.sql.parquet.enableVectorizedReader": "false"},
    "rows of batches": {"spark.sql.codegen.maxFields": "2"},
    "no generated code": {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
    "memory off the heap": {"spark.sql.columnVector.offheap.enabled": "true"},
}


@contextmanager
def configured(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, previous in before.items():
            if previous is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, previous)
