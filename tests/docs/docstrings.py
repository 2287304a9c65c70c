"""The examples of the docstrings, and the names that they may use without making them.

- What the module of the example defines or imports, and `pa`, `pyhudi` and `HudiTable`.
- `table`: trips on a merge-on-read table in memory, keyed by `id`, partitioned by `city`, ordered by `ts`. Three rows were inserted at
  `20260102030405000`, and one was updated at `20260102040506000`, so that one file slice has a log file. Now it is an hour later.
- `folder`: the path of an empty folder, as text.
- `spark`: a session that speaks Hudi. Examples that use it are run by tests/spark.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

import pyhudi
from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.storage.memory_storage import MemoryStorage
from scripts.import_graph import SOURCE

#: When the table of the examples was written first; each next step is an hour, a minute and a second later.
FIRST = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STEP = timedelta(hours=1, minutes=1, seconds=1)
COLUMNS = ("id", "city", "ts", "fare")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SPARK = re.compile(r"\bspark\b|\bSparkSession\b")


@dataclass
class SetClock:
    """Stands still until it is set; the timeline's own rule then makes every time a millisecond later than the one before."""

    time: datetime

    def now(self) -> datetime:
        return self.time


@dataclass
class CountedIds:
    """Ids that are the same in each run, and not those of buckets."""

    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def file_prefix(self) -> str:
        return f"f{next(self.numbers):07}-0000-0000-0000-000000000000"

    def sync_marker(self) -> bytes:
        return next(self.numbers).to_bytes(16, "big")


class Names(dict[str, Any]):
    """The names of an example; a table is made when it is asked for."""

    def __init__(self, module: str, folder: Path, spark: Any = None) -> None:
        super().__init__(vars(importlib.import_module(module)))
        self.update(pa=pa, pyhudi=pyhudi, HudiTable=HudiTable, folder=str(folder), __name__="__main__")
        if spark is not None:
            self["spark"] = spark

    def copy(self) -> Names:
        """What doctest works on."""
        return self

    def __missing__(self, name: str) -> Any:
        if name != "table":
            raise KeyError(name)
        self[name] = trips()
        return self[name]


def trips() -> HudiTable:
    """The table of the examples."""
    storage, clock, ids = MemoryStorage(), SetClock(FIRST), CountedIds()
    schema = pa.schema({"id": pa.int64(), "city": pa.string(), "ts": pa.int64(), "fare": pa.float64()})
    HudiTable.create(storage.uri, schema, name="trips", keys=["id"], partition_by=["city"], order_by=["ts"], table_type="MERGE_ON_READ")
    table = HudiTable(storage, clock=clock, ids=ids, engine=LocalEngine(threads=1))
    rows = [(1, "oslo", 10, 7.5), (2, "oslo", 10, 12.0), (3, "rome", 11, 9.0)]
    table.insert([dict(zip(COLUMNS, row, strict=True)) for row in rows])
    clock.time += STEP
    table.upsert([dict(zip(COLUMNS, (2, "oslo", 20, 13.5), strict=True))])
    clock.time += STEP
    return HudiTable(storage, clock=clock, ids=ids, engine=LocalEngine(threads=1))


def documented(node: ast.AST, prefix: str) -> Iterator[tuple[str, str, int]]:
    """Name, docstring and line of a module, class or function and of all below it, private ones included."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
        text = ast.get_docstring(node)
        if text:
            yield prefix, text, node.body[0].lineno
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield from documented(child, f"{prefix}.{child.name}")


def examples(*, on_spark: bool) -> list[tuple[str, str]]:
    """Module and qualified name of each docstring with examples, with or without those that use Spark.

    Found in the source, so that collecting tests imports nothing.
    """
    result = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if ">>>" not in text:
            continue
        parts = path.relative_to(SOURCE).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for name, docstring, _ in documented(ast.parse(text), ""):
            tests = doctest.DocTestParser().get_examples(docstring)
            if tests and on_spark == any(_SPARK.search(test.source) for test in tests):
                result.append((module, name.lstrip(".")))
    return result


def run(module: str, name: str, folder: Path, spark: Any = None) -> str:
    """Run the examples of a docstring and return what was wrong, which is nothing when all print what they say."""
    path = Path(importlib.import_module(module).__file__ or "")
    text, line = next(
        (text, line) for result, text, line in documented(ast.parse(path.read_text(encoding="utf-8")), "") if result.lstrip(".") == name
    )
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, Names(module, folder, spark), f"{module}:{name}", str(path), line)
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    return "".join(report)
