"""From what Python knows of partitions and files to the values that Spark's scan plans with, in one call each.

Spark's classes: `FileIndex`, `PartitionDirectory`, `FileStatusWithMetadata`, and
`ExternalCatalogUtils.prunePartitionsByFilter`, whose meaning of a partition filter is the one here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from pyhudi.cache import cached_property
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.column_expressions import Expressions
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.scan.row_mask import MASK

_DATASOURCES = "org.apache.spark.sql.execution.datasources"
_FILE = StructType([StructField("path", StringType()), StructField("size", LongType()), StructField("modified_ms", LongType())])
#: Every status has a block size; splits follow `spark.sql.files.maxPartitionBytes` alone.
_BLOCK_BYTES = 128 * 1024 * 1024

Strings: TypeAlias = tuple[str | None, ...]


class PartitionValueError(Exception):
    """A text of a partition path is no value of its column."""


@dataclass(frozen=True, slots=True)
class Directory:
    """Files to be scanned with the same partition values: the strings of these, and the files as (URI, size, modified).

    The text of `MASK` is Base64.
    """

    values: Strings
    files: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class _Mapping:
    """An expression for each element of an array of structs."""

    variable: JavaObject
    made: JavaObject
    array: JavaObject  # the array's type


class PartitionValues:
    """Partition values of one schema, typed by Catalyst from the strings of the partition paths."""

    def __init__(self, session: SparkSession, schema: StructType) -> None:
        """Prepare for partitions of this schema; the JVM is asked when the first question comes."""
        self._session = session
        self._schema = schema
        self._make = Expressions(session)
        self._strings = StructType([StructField(str(n), StringType()) for n in range(len(schema))])
        self._evaluating = threading.Lock()

    def directories(self, listed: Iterable[Directory]) -> JavaObject:
        """Return Spark's `Seq[PartitionDirectory]`.

        Raises:
            PartitionValueError: a text is no value of its column.
        """
        data = [{"values": _number_values(one.values), "files": [_file(*file) for file in one.files]} for one in listed]
        return self._evaluate(self._directory, data)

    def matching(self, partitions: Sequence[Strings], filters: JavaObject) -> list[int]:
        """Return the positions of the partitions that pass all of Spark's partition filters.

        Args:
            partitions: The strings of the partition values of each partition.
            filters: A Scala Seq of resolved Catalyst expressions over the partition columns, not empty.

        Raises:
            PartitionValueError: a text is no value of its column.
            PySparkException: a filter fails for a value, as Spark says it.
        """
        data = [_number_values(strings) | {"position": position} for position, strings in enumerate(partitions)]
        rows = self._evaluate(self._numbered_row, data)
        condition = self._all_of(filters)
        columns = self._columns(condition)
        is_streaming, no_stream = False, jvm.some(self._session, None)
        relation = self._plan("LocalRelation")(self._make.seq(columns), rows, is_streaming, no_stream)
        # This rule of Spark's optimizer evaluates a plan over local rows on the spot, without a job.
        evaluate = jvm.companion(self._session, "catalyst.optimizer.ConvertToLocalRelation").apply
        passed = evaluate(self._plan("Filter")(condition, relation))
        positions = evaluate(self._plan("Project")(self._make.seq(columns[-1:]), passed)).data()
        return [int(row.strip("[]")) for row in positions.mkString("\n").split("\n") if row]

    def _evaluate(self, mapping: _Mapping, data: list[dict[str, Any]]) -> JavaObject:
        values = self._make.each(mapping.variable, mapping.made, self._make.from_json(data, mapping.array))
        try:
            # Expressions that call a constructor hold the arguments of the call: two threads would get each other's files.
            with self._evaluating:
                return values.eval(None)
        except PySparkException as error:
            raise PartitionValueError(str(error)) from error

    def _plan(self, name: str) -> JavaObject:
        """Return the constructor of a logical plan's node."""
        return jvm.java_class(self._session, f"org.apache.spark.sql.catalyst.plans.logical.{name}")

    @cached_property
    def _directory(self) -> _Mapping:
        """From the values and files of a partition to Spark's `PartitionDirectory`."""
        make = self._make
        element = StructType([StructField("values", self._strings), StructField("files", ArrayType(_FILE))])
        directory = make.variable("directory", element)
        made = make.new(
            f"{_DATASOURCES}.PartitionDirectory",
            [self._typed_row(make.part(directory, 0)), make.each(*self._file_status(), make.part(directory, 1))],
        )
        return _Mapping(directory, made, make.array_of(element))

    @cached_property
    def _numbered_row(self) -> _Mapping:
        """From the strings and the position of a partition to a row of its typed values and the position."""
        element = StructType([*self._strings, StructField("position", IntegerType())])
        partition = self._make.variable("partition", element)
        return _Mapping(partition, self._typed_row(partition, len(self._schema)), self._make.array_of(element))

    def _typed_row(self, strings: JavaObject, position: int | None = None) -> JavaObject:
        """Return the row of typed values for a struct of strings; `position` is a field to add as it is."""
        make = self._make
        fields = [(field.name, self._value(field, make.part(strings, n))) for n, field in enumerate(self._schema.fields)]
        if position is not None:
            fields.append(("position", make.part(strings, position)))
        return make.struct(fields)

    def _value(self, field: StructField, text: JavaObject) -> JavaObject:
        return self._make.decode_column(text) if field == MASK else self._make.cast(text, field.dataType)

    def _file_status(self) -> tuple[JavaObject, JavaObject]:
        """Return the variable of one file and the expression for its status in Spark's wrapping."""
        make = self._make
        file = make.variable("file", _FILE)
        path = make.new("org.apache.hadoop.fs.Path", [make.java_string(make.part(file, 0))])
        is_dir, replication, block = make.literal(False), make.literal(1), make.literal(_BLOCK_BYTES)
        status = make.new(
            "org.apache.hadoop.fs.FileStatus",
            [make.part(file, 1), is_dir, replication, make.cast(block, LongType()), make.part(file, 2), path],
        )
        return file, make.new(f"{_DATASOURCES}.FileStatusWithMetadata", [status, make.empty_map()])

    def _all_of(self, filters: JavaObject) -> JavaObject:
        conjunction = jvm.java_class(self._session, "org.apache.spark.sql.catalyst.expressions.And")
        first, *others = jvm.items_of(filters)
        for other in others:
            first = conjunction(first, other)
        return first

    def _columns(self, condition: JavaObject) -> list[JavaObject]:
        """Return the attributes of the numbered rows: by name those of the condition, fresh ones for the rest."""
        spoken_of = {attribute.name(): attribute for attribute in jvm.items_of(condition.references().toSeq())}
        names = [field.name for field in self._schema.fields]
        return [spoken_of.get(name, fresh) for name, fresh in zip(names, self._fresh[:-1], strict=True)] + [self._fresh[-1]]

    @cached_property
    def _fresh(self) -> list[JavaObject]:
        attributes = jvm.companion(self._session, "catalyst.types.DataTypeUtils")
        return jvm.items_of(attributes.toAttributes(self._numbered_row.made.dataType()))


@lru_cache(maxsize=64)
def partition_values(session: SparkSession, schema_json: str) -> PartitionValues:
    """Return the one `PartitionValues` of a session and a schema, whose expressions are built once."""
    return PartitionValues(session, StructType.fromJson(json.loads(schema_json)))


def _number_values(strings: Strings) -> dict[str, str | int | None]:
    """Return strings under their numbers: names of columns may be anything, also twice the same but for case."""
    return {str(n): text for n, text in enumerate(strings)}


def _file(path: str, size: int, modified_ms: int) -> dict[str, str | int]:
    return {"path": path, "size": size, "modified_ms": modified_ms}
