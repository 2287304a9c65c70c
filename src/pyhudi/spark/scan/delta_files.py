"""Delta rows as small Parquet files that Spark's scan reads next to the base files, for as long as somebody may read them.

On one machine they are below Spark's own folder of the application (in `spark.local.dir`), which Spark removes when
the session stops. On a cluster the executors must reach them: `pyhudi.merge.folder` says where.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext, SparkFiles, TaskContext
from pyspark.sql import SparkSession

from pyhudi.errors import HudiError, OptionError, StorageError
from pyhudi.schema.meta_columns import COMMIT_TIME, FILE_NAME, PARTITION_PATH
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.scratch import ScratchFolder
from pyhudi.storage.storage_protocol import Storage

MERGE_FOLDER: Final = "pyhudi.merge.folder"
_COMPRESSION = "lz4"


@dataclass(frozen=True, slots=True)
class DeltaFile:
    """A file as Spark's scan wants to know it: URI, bytes, milliseconds since the epoch; `name` is that in its folder."""

    name: str
    uri: str
    size: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class DeltaFolder:
    """Where the delta rows of one application stand; tasks carry it."""

    storage: ScratchFolder | Storage

    def write(self, name: str, rows: pa.Table) -> DeltaFile:
        """Write rows into a new file; attempts of a Spark task at the same name keep apart.

        Raises:
            StorageError: the file cannot be written.
        """
        task = TaskContext.get()
        file_name = f"{name}.parquet" if task is None else f"{name}-{task.taskAttemptId()}.parquet"
        repeated = [column for column in (COMMIT_TIME, PARTITION_PATH, FILE_NAME) if column in rows.column_names]
        with self.storage.open_output(file_name) as output:
            pq.write_table(rows, output, compression=_COMPRESSION, use_dictionary=repeated)
        status = self.storage.stat(file_name)
        if status is None:
            raise StorageError(f"{file_name}, just written to {self.storage.uri}, is missing: something removes files from {MERGE_FOLDER}.")
        base = self.storage.uri if "://" in self.storage.uri else f"file:{self.storage.uri}"
        return DeltaFile(file_name, f"{base}/{file_name}", status.size, status.modified_ms)

    def delete(self, file: DeltaFile) -> None:
        """Delete a file if it is still there; a failure leaves it behind."""
        with contextlib.suppress(OSError, HudiError):
            self.storage.delete(file.name)


def delta_folder(session: SparkSession, given: str | None) -> DeltaFolder:
    """Return where the delta rows of a session's queries go.

    Args:
        session: The session that reads them.
        given: The reader's option `pyhudi.merge.folder`; without it the session's setting of that name holds.

    Raises:
        OptionError: the executors are on other machines and the option does not say which folder they reach.
    """
    context = session.sparkContext
    stated = given or session.conf.get(MERGE_FOLDER, session.conf.get(f"spark.{MERGE_FOLDER}", None))
    if stated is not None:
        return DeltaFolder(open_storage(f"{stated.rstrip('/')}/{context.applicationId}"))
    if not is_local(context):
        raise OptionError(
            f"a snapshot of a merge-on-read table needs {MERGE_FOLDER} on a cluster (master {context.master}): the URI of a"
            " folder that driver and executors reach, for the rows merged from log files, kept while the session lives; or read"
            " with hoodie.datasource.query.type=read_optimized"
        )
    return DeltaFolder(ScratchFolder(f"{SparkFiles.getRootDirectory()}/pyhudi-delta"))


def is_local(context: SparkContext) -> bool:
    """Tell whether all tasks run on the driver's machine."""
    return (context.master or "").startswith("local")
