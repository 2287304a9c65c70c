"""A table in memory, and short ways to write and read its files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.read_base import read_base_file
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask, run_write_task
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage

FIRST = "20260101000000000"
SECOND = "20260101000000001"
SMALL_FILTER = WriterSettings(bloom_entries=1000, bloom_max_entries=2000)


def record_context_of(schema: pa.Schema, ordering: Sequence[str] = (), **more: Any) -> RecordContext:
    mode = MergeMode.EVENT_TIME_ORDERING if ordering else MergeMode.COMMIT_TIME_ORDERING
    avro = with_meta_fields(arrow_to_avro(schema, "t"))
    return RecordContext("t", schema, avro, tuple(ordering), mode, **more)


def keyed_config(keys: str, partitions: str = "", **more: str) -> TableConfig:
    """Properties of a table with these key and partition fields."""
    return TableConfig(
        {
            "hoodie.table.name": "t",
            "hoodie.table.type": "COPY_ON_WRITE",
            "hoodie.timeline.layout.version": "2",
            "hoodie.table.version": "9",
            "hoodie.table.recordkey.fields": keys,
            "hoodie.table.partition.fields": partitions,
            **more,
        }
    )


def base_of(result: TaskResult) -> BaseFile:
    folder, _, name = result.file.rpartition("/")
    parsed = parse_base_file_name(name)
    assert parsed is not None
    return BaseFile(folder, parsed, result.stat.file_size_in_bytes)


def keyed(rows: pa.Table, key: str = "id") -> pa.Table:
    return rows.append_column("_hoodie_record_key", rows.column(key).cast(pa.string()))


@dataclass
class Group:
    """One file group of a table in memory, written to again and again."""

    context: RecordContext
    partition: str = ""
    settings: WriterSettings = SMALL_FILTER
    storage: MemoryStorage = field(default_factory=MemoryStorage)
    base: BaseFile | None = None
    writes: int = 0

    def write(self, rows: pa.Table | Iterable[pa.RecordBatch], *, append_only: bool = False) -> TaskResult:
        instant = str(int(FIRST) + self.writes)
        task = WriteTask(instant, self.partition, "f1-0", f"{self.writes}-1-2", self.base, append_only)
        result = run_write_task(self.storage, self.context, self.settings, task, rows)
        self.base, self.writes = base_of(result), self.writes + 1
        return result

    def read(self, columns: Sequence[str] | None = None, *, meta_columns: bool = False) -> list[dict[str, Any]]:
        assert self.base is not None
        table = read_base_file(self.storage, self.base, self.context.schema, columns, meta_columns=meta_columns)
        result: list[dict[str, Any]] = table.to_pylist()
        return result


@pytest.fixture
def group() -> Group:
    return Group(record_context_of(pa.schema({"id": pa.int64(), "v": pa.string()})))
