"""A read of files whose columns were narrower when they were written, against a read of files of one schema, on both engines.

    python -m bench.kernels.widened_reads --work DIR [--rows N] [--no-spark] [--kinds | --nested]

Two tables with the same rows: one was written with int and float columns, which a last small write widened to long and double, the
other with long and double columns from the beginning. Processor time is compared, of this process or of Spark's JVM. More than 1.1 times
that of the second ends with status 1. `--kinds` compares each kind of widening by itself, on Spark, and prints the ratios; `--nested` does
so for columns with fields, elements and values that were widened, on both engines.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from pyhudi import HudiTable, enable
from pyhudi.schema.promoted_rows import promote_column
from pyhudi.spark.jvm.jvm import java_class

GOAL = 1.1
REPETITIONS = 9
WARM_UP = 3  # of Spark's compiler
PARTITIONS = 4
NARROW = {"a": pa.int32(), "b": pa.int32(), "c": pa.float32(), "d": pa.int32()}
#: By kind: the type that files have, that of the table, and a value of the last write.
KINDS: dict[str, tuple[pa.DataType, pa.DataType, object]] = {
    "float_double": (pa.float32(), pa.float64(), 1.0),
    "int_long": (pa.int32(), pa.int64(), 1),
    "long_double": (pa.int64(), pa.float64(), 1.0),
    "int_string": (pa.int32(), pa.string(), "1"),
    "date_string": (pa.date32(), pa.string(), "2026-01-01"),
    "decimal": (pa.decimal128(12, 2), pa.decimal128(18, 2), Decimal("1.00")),
}
#: By kind, with how Spark's query uses the column `c`.
NESTED: dict[str, tuple[pa.DataType, pa.DataType, object, str]] = {
    "struct": (
        pa.struct({"x": pa.int32(), "y": pa.int64()}),
        pa.struct({"x": pa.int64(), "y": pa.float64()}),
        {"x": 1, "y": 1.0},
        "max(c.x + c.y)",
    ),
    "array": (pa.list_(pa.int32()), pa.list_(pa.int64()), [1, 2], "max(array_max(c))"),
    "array of longs": (pa.list_(pa.int64()), pa.list_(pa.float64()), [1.0, 2.0], "max(array_max(c))"),
    "array of floats": (pa.list_(pa.float32()), pa.list_(pa.float64()), [1.0, 2.0], "max(array_max(c))"),
    "map": (pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.int64()), [("k", 1)], "max(array_max(map_values(c)))"),
}
WIDE = {"a": pa.int64(), "b": pa.int64(), "c": pa.float64(), "d": pa.int64()}


def main() -> int:
    """Measure, print ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.widened_reads")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--no-spark", action="store_true")
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--nested", action="store_true")
    arguments = parser.parse_args()
    if arguments.kinds:
        return 0 if max(each_kind(arguments.work, arguments.rows).values()) <= GOAL else 1
    if arguments.nested:
        return 0 if max(each_nested_kind(arguments.work, arguments.rows)) <= GOAL else 1
    widened = make(arguments.work / "widened", NARROW, arguments.rows)
    uniform = make(arguments.work / "uniform", WIDE, arguments.rows)
    assert widened.schema.field("a").type == uniform.schema.field("a").type == pa.int64()
    ratios = {"local engine": compare(widened.to_arrow, uniform.to_arrow)}
    if not arguments.no_spark:
        ratios["Spark"] = on_spark(arguments.work)
    for engine, ratio in ratios.items():
        print(f"{engine:13} {ratio:.2f}")
    return 0 if max(ratios.values()) <= GOAL else 1


def each_kind(work: Path, count: int) -> dict[str, float]:
    """Return the ratio on Spark of each kind of widening, of one column."""
    numbers = np.random.default_rng(7).normal(size=count)
    integers = np.arange(count) % (1 << 20)
    ratios = {}
    with spark_clock() as (session, spent):
        for kind, (old, new, last) in KINDS.items():
            values = pa.array(numbers if pa.types.is_floating(old) else integers.astype("int32")).cast(old)
            columns = {"old": values, "new": values if old == new else promote_column(values, new, "c")}
            for name, column in columns.items():
                make_column(work / f"{kind}_{name}", column, pa.array([last], new))

            def read(path: Path) -> Callable[[], object]:
                rows = "max(c) AS c", "sum(id) AS id", "max(note) AS note"
                return lambda: session.read.format("hudi").load(str(path)).selectExpr(*rows).collect()

            ratios[kind] = compare(read(work / f"{kind}_old"), read(work / f"{kind}_new"), spent)
            print(f"{kind:16} {ratios[kind]:.2f}", flush=True)
    return ratios


def each_nested_kind(work: Path, count: int) -> Iterator[float]:
    """Yield the ratios of each kind of nested column, on the local engine and on Spark."""
    numbers = np.arange(count) % (1 << 20)
    x, y, offsets = pa.array(numbers, pa.int32()), pa.array(numbers), pa.array(np.arange(0, count + 1, 2), pa.int32())
    half = {
        "struct": pa.StructArray.from_arrays([x, y], fields=list(NESTED["struct"][0])),
        "array": pa.ListArray.from_arrays(offsets, x),
        "array of longs": pa.ListArray.from_arrays(offsets, y),
        "array of floats": pa.ListArray.from_arrays(offsets, pa.array(np.random.default_rng(7).normal(size=count), pa.float32())),
        "map": pa.MapArray.from_arrays(offsets, pa.array([f"k{number % 7}" for number in range(count)]), x),
    }
    with spark_clock() as (session, spent):
        for kind, (_, new, last, used) in NESTED.items():
            paths = work / f"{kind}_old", work / f"{kind}_new"
            for path, values in zip(paths, (half[kind], promote_column(half[kind], new, "c")), strict=True):
                make_column(path, values, pa.array([last], new))
            old, wide = (HudiTable.open(path) for path in paths)
            yield (local := compare(old.to_arrow, wide.to_arrow))

            def read(path: Path, used: str = used) -> Callable[[], object]:
                rows = f"{used} AS c", "sum(id) AS id", "max(note) AS note"
                return lambda: session.read.format("hudi").load(str(path)).selectExpr(*rows).collect()

            yield (on_spark := compare(read(paths[0]), read(paths[1]), spent))
            print(f"{kind:16} {local:.2f} locally, {on_spark:.2f} on Spark", flush=True)


def make_column(path: Path, values: pa.Array, last: pa.Array) -> None:
    """Make a table with these values, to which a last write of one row adds a value of the wide type."""
    schema = pa.schema({"id": pa.int64(), "note": pa.string(), "c": values.type})
    table = HudiTable.create(path, schema, name=path.name, keys=["id"])
    notes = pa.array([f"note {number % 997}" for number in range(len(values))])
    table.bulk_insert(pa.table({"id": np.arange(len(values)), "note": notes, "c": values}))
    table.insert(pa.table({"id": [-1], "note": ["last"], "c": last}))


def make(path: Path, types: dict[str, pa.DataType], count: int) -> HudiTable:
    """Return a table of so many rows of these types, to which a last write of one row adds the wide types."""
    schema = pa.schema({"id": pa.int64(), "part": pa.string(), "note": pa.string(), **types})
    table = HudiTable.create(path, schema, name=path.name, keys=["id"], partition_by=["part"])
    generator = np.random.default_rng(7)
    for part in range(PARTITIONS):
        ids = np.arange(part * count // PARTITIONS, (part + 1) * count // PARTITIONS)
        values = {
            # Of a float that is no whole number the decimal counts, which takes the longest.
            name: pa.array(generator.normal(size=len(ids)) if name == "c" else generator.integers(0, 1 << 20, len(ids))).cast(kind)
            for name, kind in types.items()
        }
        notes = pa.array([f"note {number % 997}" for number in ids])
        table.bulk_insert(pa.table({"id": ids, "part": pa.array([f"p{part}"] * len(ids)), "note": notes, **values}))
    last = {name: pa.array([1], kind) for name, kind in WIDE.items()}
    table.insert(pa.table({"id": [-1], "part": ["last"], "note": ["last"], **last}))
    return HudiTable.open(path)


def on_spark(work: Path) -> float:
    """Return the ratio of aggregations over all columns by Spark."""
    query = "sum(a) AS a", "sum(b) AS b", "sum(c) AS c", "sum(d) AS d", "max(note) AS note"
    with spark_clock() as (session, spent):

        def read(name: str) -> Callable[[], object]:
            return lambda: session.read.format("hudi").load(str(work / name)).selectExpr(*query).collect()

        return compare(read("widened"), read("uniform"), spent)


@contextmanager
def spark_clock() -> Iterator[tuple[SparkSession, Callable[[], float]]]:
    """Yield a session, and what tells the processor time of its JVM in seconds."""
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = enable(SparkSession.builder.master("local[2]").config(map=settings)).getOrCreate()
    process = java_class(session, "java.lang.ProcessHandle").current().pid()

    def spent() -> float:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    yield session, spent
    session.stop()


def compare(one: Callable[[], object], other: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return how the median processor times of two reads compare that take turns."""
    for _ in range(WARM_UP):
        one(), other()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPETITIONS):
        for work, spent in zip((one, other), times, strict=True):
            started = clock()
            work()
            spent.append(clock() - started)
    print(f"{statistics.median(times[0]):.3f} and {statistics.median(times[1]):.3f} s")
    return statistics.median(times[0]) / statistics.median(times[1])


if __name__ == "__main__":
    sys.exit(main())
