"""One task of a bootstrap: the skeleton of one source file.

Rules: RFC-12, `HoodieBootstrapHandle`, `MetadataBootstrapHandler`; docs/format/bootstrap.md#skeletons. Of the source only the columns of
the record key and of the partition path are read. The partition path that the table's key generator makes of a row must be that of its
file: a later write of the row would look for it there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from pyhudi.errors import KeyFieldError
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.iter_rows import iter_rows, row_query
from pyhudi.kernels.base_file.meta_column_writer import MetaColumnWriter
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.base_file.stitched_rows import folder_values, source_file
from pyhudi.kernels.keys.key_kernels import key_columns
from pyhudi.kernels.tasks.task_attempt import reserve_name
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask, base_file_stat
from pyhudi.keygen.choose_generator import KeyGenerator
from pyhudi.schema.meta_columns import META_COLUMNS, RECORD_KEY
from pyhudi.spec.files.bootstrap_source import METADATA_BOOTSTRAP, BootstrapSource
from pyhudi.spec.files.file_group import BaseFile, FileGroupId
from pyhudi.spec.files.marker import MarkerType

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

#: The schema in the footer of a skeleton, as Apache Hudi names its record.
_AVRO_FIELDS: Final = ",".join(f'{{"name":"{name}","type":["null","string"],"doc":"","default":null}}' for name in META_COLUMNS)
SKELETON_SCHEMA: Final = f'{{"type":"record","name":"HoodieRecordKey","doc":"","fields":[{_AVRO_FIELDS}]}}'
#: Of the other columns the name of the file says the values, or they are numbered: bounds rule nothing out, and take a tenth of the time.
_BOUNDED: Final = (RECORD_KEY,)


@dataclass(frozen=True, slots=True)
class SkeletonTask:
    """The skeleton `file_id` to write for a source file, as the task of a number."""

    partition_path: str
    file_id: str
    number: int
    source: BootstrapSource


@dataclass(frozen=True, slots=True)
class SkeletonSettings:
    """What all tasks of a bootstrap know: the table's data columns, its key generator, the columns that it needs, how files are written,
    and whether their bloom filters tell keys apart.
    """

    name: str
    schema: pa.Schema
    generator: KeyGenerator
    columns: tuple[str, ...]
    writer: WriterSettings
    filters_keys: bool = True


@dataclass(frozen=True, slots=True)
class _Rows:
    inserts: int
    updates: int = 0
    deletes: int = 0


def run_skeleton_task(storage: Storage, settings: SkeletonSettings, task: SkeletonTask) -> TaskResult:
    """Write one skeleton and say what was done.

    Raises:
        CorruptTableError: the source file is damaged, missing, or changed since it was listed.
        KeyFieldError: a row has no record key, or belongs to another partition than its file.
        AlreadyExistsError: the task was begun too often.
    """
    started = time.perf_counter()
    planned = WriteTask(METADATA_BOOTSTRAP, task.partition_path, task.file_id, f"{task.number}-0-0")
    planned = reserve_name(storage, planned, MarkerType.CREATE)
    ensure_partition(storage, task.partition_path, METADATA_BOOTSTRAP)
    context = RecordContext(settings.name, pa.schema([]), SKELETON_SCHEMA)
    writer_settings = replace(settings.writer, bounded=_BOUNDED)
    stamp = MetaColumnWriter(METADATA_BOOTSTRAP, str(task.number), task.partition_path, str(planned.file_name))
    skeleton = BaseFile(task.partition_path, planned.file_name, size=0)
    with storage.open_output(planned.path) as output:
        keys = KeyFilter.for_rows_after(storage, None, context, settings.writer)
        if keys is not None and not settings.filters_keys:
            keys = KeyFilter.saturated(settings.writer)
        with BaseFileWriter(output, context, writer_settings, keys) as writer:
            for batch in _keys(storage, skeleton, settings, task):
                writer.append(stamp.new(batch, context.file_schema))
        size = output.tell()
    group = FileGroupId(task.partition_path, task.file_id)
    stat = base_file_stat(group, planned.path, None, _Rows(writer.rows), rows=writer.rows, size=size)
    spent = int((time.perf_counter() - started) * 1000)
    return TaskResult(replace(stat, total_create_ms=spent), 0, planned.path)


def _keys(storage: Storage, skeleton: BaseFile, settings: SkeletonSettings, task: SkeletonTask) -> Iterator[pa.Table]:
    """Yield the record keys of the source rows, in their order."""
    file = source_file(storage, skeleton, task.source)
    query = row_query(
        settings.schema,
        settings.columns,
        None,
        meta_columns=False,
        dictionaries=(),
        without=None,
        constants=folder_values(file, task.source, settings.schema),
        verify=True,
    )
    begin = 0
    for batch in iter_rows(file, query):
        keys, paths = key_columns(pa.Table.from_batches([batch]), settings.generator, first_row=begin)
        begin += batch.num_rows
        distinct = paths.dictionary if len(paths.dictionary) == 1 else paths.unique()  # rows are looked at where paths differ
        other = next((path for path in distinct.to_pylist() if path != task.partition_path), None)
        if other is not None:
            raise KeyFieldError(
                f"source file {task.source.uri} is in the folder '{task.source.partition_path}', which becomes the partition"
                f" '{task.partition_path}', and holds rows of the partition '{other}': later writes would not find them. Choose"
                " partition_by, hoodie.datasource.write.hive_style_partitioning and hoodie.bootstrap.partitionpath.translator.class so that"
                " the folders are the partition paths; or copy the data, with the mode FULL_RECORD."
            )
        yield pa.table({RECORD_KEY: keys})
