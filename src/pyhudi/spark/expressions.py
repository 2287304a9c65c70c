"""Catalyst's object expressions, as far as the scan builds JVM values with them.

An encoder of Spark turns rows into JVM objects by such expressions. Here they turn one JSON text into a whole
sequence of objects, so that handing 10,000 files to the JVM is one call and not 50,000 round trips.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, StructType

from pyhudi.spark import jvm
from pyhudi.spark.jvm import JavaObject

SEQ = "scala.collection.immutable.Seq"


class Expressions:
    """Makes expressions in the JVM of one session."""

    def __init__(self, session: SparkSession) -> None:
        """Bind to the JVM of `session`; nothing is called yet."""
        self._session = session
        java = jvm.jvm(session)
        self._java = java
        self._catalyst = java.org.apache.spark.sql.catalyst.expressions
        self._none = jvm.some(session, None)
        self._literal = jvm.companion(session, "catalyst.expressions.Literal")
        self._ansi = jvm.companion(session, "catalyst.expressions.EvalMode").ANSI()

    def seq(self, items: Sequence[JavaObject]) -> JavaObject:
        """Return a Scala Seq of JVM values."""
        return self._java.org.apache.spark.api.python.PythonUtils.toSeq(list(items))

    def java_type(self, spark_type: DataType) -> JavaObject:
        """Return the JVM's value of a type."""
        return self._java.org.apache.spark.sql.types.DataType.fromJson(spark_type.json())

    def object_type(self, class_name: str) -> JavaObject:
        """Return the type that stands for a Java class."""
        return self._java.org.apache.spark.sql.types.ObjectType(self._class(class_name))

    def literal(self, value: Any) -> JavaObject:
        """Return a literal; a Python int becomes a Java int."""
        return self._literal.apply(value)

    def empty_map(self) -> JavaObject:
        """Return a literal of an empty Scala Map."""
        empty = self._java.org.apache.spark.api.python.PythonUtils.toScalaMap({})
        return self._literal.create(empty, self.object_type("scala.collection.immutable.Map"))

    def variable(self, name: str, spark_type: DataType) -> JavaObject:
        """Return the variable that stands for one element inside `each`."""
        return self._catalyst.objects.LambdaVariable(name, self.java_type(spark_type), True, 0)

    def part(self, struct: JavaObject, position: int) -> JavaObject:
        """Return a field of a struct."""
        return self._catalyst.GetStructField(struct, position, self._none)

    def struct(self, fields: Sequence[tuple[str, JavaObject]]) -> JavaObject:
        """Return a struct made of named expressions."""
        named = [expression for name, value in fields for expression in (self.literal(name), value)]
        return self._catalyst.CreateNamedStruct(self.seq(named))

    def cast(self, text: JavaObject, spark_type: DataType) -> JavaObject:
        """Return a cast that fails on a text which is not of the type."""
        utc = jvm.some(self._session, "UTC")
        return self._catalyst.Cast(text, self.java_type(spark_type), utc, self._ansi)

    def java_string(self, text: JavaObject) -> JavaObject:
        """Return a Spark string as a `java.lang.String`."""
        nothing = self.seq([])
        string = self.object_type("java.lang.String")
        return self._catalyst.objects.Invoke(text, "toString", string, nothing, nothing, False, True, True)

    def new(self, class_name: str, arguments: Sequence[JavaObject]) -> JavaObject:
        """Return a call of a constructor that takes exactly these arguments."""
        types = self.seq([argument.dataType() for argument in arguments])
        kind = self.object_type(class_name)
        return self._catalyst.objects.NewInstance(
            self._class(class_name),
            self.seq(arguments),
            types,
            False,
            kind,
            self._none,
        )

    def each(self, variable: JavaObject, made: JavaObject, array: JavaObject) -> JavaObject:
        """Return an expression for the Scala Seq of what `made` gives for each element of an array."""
        return self._catalyst.objects.MapObjects(variable, made, array, jvm.some(self._session, self._class(SEQ)))

    def from_json(self, values: Sequence[dict[str, Any]], element: StructType) -> JavaObject:
        """Return the literal array of structs that the values are."""
        options = self._java.org.apache.spark.api.python.PythonUtils.toScalaMap({})
        array = self.java_type(ArrayType(element))
        text = self.literal(json.dumps(values))
        utc = jvm.some(self._session, "UTC")
        return self._catalyst.JsonToStructs(array, options, text, utc, False)

    def _class(self, name: str) -> JavaObject:
        return self._java.java.lang.Class.forName(name)
