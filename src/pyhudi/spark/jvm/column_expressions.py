"""Catalyst's object expressions, as far as the scan builds JVM values with them.

An encoder of Spark turns rows into JVM objects by such expressions. Here they turn one JSON text into a whole sequence
of objects, so that handing 10,000 files to the JVM is one call and not 50,000 round trips. The expressions are made once and evaluated
often, by one thread at a time: those that call a constructor or a method hold the arguments of the call.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import ArrayType, DataType, StringType, StructType

from pyhudi.cache import cached_property
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"
_SEQ = "scala.collection.immutable.Seq"


class Expressions:
    """Makes expressions in the JVM of one session."""

    def __init__(self, session: SparkSession) -> None:
        """Bind to the JVM of `session`; nothing is called yet."""
        self._session = session

    def seq(self, items: Sequence[JavaObject]) -> JavaObject:
        """Return a Scala Seq of JVM values."""
        return self._utils.toSeq(list(items))

    def java_type(self, spark_type: DataType) -> JavaObject:
        """Return the JVM's value of a type."""
        return jvm.java_class(self._session, "org.apache.spark.sql.types.DataType").fromJson(spark_type.json())

    def literal(self, value: Any) -> JavaObject:
        """Return a literal; a Python int becomes a Java int."""
        return self._literal.apply(value)

    def empty_map(self) -> JavaObject:
        """Return a literal of an empty Scala Map."""
        return self._literal.create(self._no_options, self.object_type("scala.collection.immutable.Map"))

    def variable(self, name: str, spark_type: DataType) -> JavaObject:
        """Return the variable that stands for one element inside `each`."""
        nullable, no_id = True, 0
        return self._new("objects.LambdaVariable")(name, self.java_type(spark_type), nullable, no_id)

    def part(self, struct: JavaObject, position: int) -> JavaObject:
        """Return a field of a struct."""
        return self._new("GetStructField")(struct, position, self._none)

    def struct(self, fields: Sequence[tuple[str, JavaObject]]) -> JavaObject:
        """Return a struct made of named expressions."""
        named = [expression for name, value in fields for expression in (self.literal(name), value)]
        return self._new("CreateNamedStruct")(self.seq(named))

    def cast(self, text: JavaObject, spark_type: DataType) -> JavaObject:
        """Return a cast that fails on a text which is not of the type."""
        ansi = jvm.companion(self._session, "catalyst.expressions.EvalMode").ANSI()
        return self._new("Cast")(text, self.java_type(spark_type), self._utc, ansi)

    def narrow_column(self, number: JavaObject, spark_type: DataType) -> JavaObject:
        """Return a number as one of another width, without the test for overflow that a cast makes for each row."""
        legacy = jvm.companion(self._session, "catalyst.expressions.EvalMode").LEGACY()
        return self._new("Cast")(number, self.java_type(spark_type), self._utc, legacy)

    def java_string(self, text: JavaObject) -> JavaObject:
        """Return a Spark string as a `java.lang.String`."""
        return self.invoke(text, "toString", [], self.object_type("java.lang.String"))

    def decode_column(self, text: JavaObject) -> JavaObject:
        """Return the text of the bytes, any bytes, that a Base64 text stands for."""
        return self.cast(self.call("UnBase64", text), StringType())

    def call(self, name: str, *arguments: JavaObject) -> JavaObject:
        """Return one of Catalyst's expressions by its class, which takes just these arguments."""
        return self._new(name)(*arguments)

    def invoke(self, target: JavaObject, method: str, arguments: Sequence[JavaObject], result: JavaObject) -> JavaObject:
        """Return a call of a method of a JVM object; null arguments give null."""
        types, propagates_null, nullable, deterministic = self.seq([]), True, True, True
        return self._new("objects.Invoke")(target, method, result, self.seq(arguments), types, propagates_null, nullable, deterministic)

    def invoke_static(self, class_name: str, method: str, arguments: Sequence[JavaObject], result: JavaObject) -> JavaObject:
        """Return a call of a static method of a class that all executors have; null arguments give null."""
        types, propagates_null, nullable, deterministic = self.seq([]), True, True, True
        return self._new("objects.StaticInvoke")(
            self._class(class_name), result, method, self.seq(arguments), types, propagates_null, nullable, deterministic, self._none
        )

    def new(self, class_name: str, arguments: Sequence[JavaObject]) -> JavaObject:
        """Return a call of a constructor that takes exactly these arguments."""
        types = self.seq([argument.dataType() for argument in arguments])
        null_for_null = False
        return self._new("objects.NewInstance")(
            self._class(class_name), self.seq(arguments), types, null_for_null, self.object_type(class_name), self._none
        )

    def each(self, variable: JavaObject, made: JavaObject, array: JavaObject) -> JavaObject:
        """Return an expression for the Scala Seq of what `made` gives for each element of an array."""
        return self._new("objects.MapObjects")(variable, made, array, self._as_seq)

    def array_of(self, element: StructType) -> JavaObject:
        """Return the JVM's type of an array of structs."""
        return self.java_type(ArrayType(element))

    def from_json(self, values: Sequence[dict[str, Any]], array: JavaObject) -> JavaObject:
        """Return the literal array of structs that the values are; `array` is its type."""
        text = self.literal(json.dumps(values))
        variant_keys_may_repeat = False
        return self._new("JsonToStructs")(array, self._no_options, text, self._utc, variant_keys_may_repeat)

    def _new(self, name: str) -> JavaObject:
        """Return the constructor of an expression."""
        return jvm.java_class(self._session, f"{_EXPRESSIONS}.{name}")

    def _class(self, name: str) -> JavaObject:
        return jvm.java_class(self._session, "java.lang.Class").forName(name)

    def object_type(self, class_name: str) -> JavaObject:
        """Return the type that stands for a Java class."""
        return jvm.java_class(self._session, "org.apache.spark.sql.types.ObjectType")(self._class(class_name))

    @cached_property
    def _utils(self) -> JavaObject:
        return jvm.java_class(self._session, "org.apache.spark.api.python.PythonUtils")

    @cached_property
    def _literal(self) -> JavaObject:
        return jvm.companion(self._session, "catalyst.expressions.Literal")

    @cached_property
    def _none(self) -> JavaObject:
        return jvm.some(self._session, None)

    @cached_property
    def _utc(self) -> JavaObject:
        return jvm.some(self._session, "UTC")

    @cached_property
    def _as_seq(self) -> JavaObject:
        return jvm.some(self._session, self._class(_SEQ))

    @cached_property
    def _no_options(self) -> JavaObject:
        return self._utils.toScalaMap({})


def sql_of(session: SparkSession, column: Column) -> str:
    """Return a column's expression as SQL that Spark's parser reads back."""
    return str(jvm.jvm_session(session).expression(column._jc).sql())  # noqa: SLF001 - no public name


def column_of(session: SparkSession, expression: JavaObject) -> Column:
    """Return a column that is an expression."""
    return Column(jvm.companion(session, "classic.ExpressionUtils").column(expression))
