"""Delta rows as small Parquet files that Spark's scan reads next to the base files, for as long as somebody may read them.

On one machine they stand below Spark's own folder of the application (in `spark.local.dir`), which Spark removes when
the session stops. On a cluster the executors must reach them: `pyhudi.merge.folder` says where.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext, SparkFiles
from pyspark.sql import SparkSession

from pyhudi.errors import HudiError, OptionError
from pyhudi.schema.meta_columns import COMMIT_TIME, FILE_NAME, PARTITION_PATH
from pyhudi.storage.open import open_storage
from pyhudi.storage.protocol import Storage

MERGE_FOLDER: Final = "pyhudi.merge.folder"
_COMPRESSION = "lz4"


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file as Spark's scan wants to know it: URI, bytes, milliseconds since the epoch."""

    uri: str
    size: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class DeltaFolder:
    """Where the delta rows of one application stand; tasks carry it.

    `storage` is None for a folder of this machine: its files need not outlive a crash, so nothing waits for the disk.
    """

    uri: str
    storage: Storage | None = None

    def write(self, rows: pa.Table) -> ScannedFile:
        """Write rows into a new file."""
        name = f"{uuid.uuid4()}.parquet"
        if self.storage is None:
            place = Path(self.uri, name)
            _write(rows, place)
            size = place.stat().st_size
        else:
            with self.storage.open_output(name) as output:
                _write(rows, output)
                size = output.tell()
        shown = f"file:{self.uri}" if self.storage is None else self.uri
        return ScannedFile(f"{shown}/{name}", size, int(time.time() * 1000))

    def delete(self, file: ScannedFile) -> None:
        """Delete a file if it is still there; a failure leaves it behind."""
        name = file.uri.rsplit("/", 1)[-1]
        with contextlib.suppress(OSError, HudiError):
            if self.storage is None:
                os.unlink(Path(self.uri, name))
            else:
                self.storage.delete(name)


def _write(rows: pa.Table, sink: object) -> None:
    repeated = [name for name in (COMMIT_TIME, PARTITION_PATH, FILE_NAME) if name in rows.column_names]
    pq.write_table(rows, sink, compression=_COMPRESSION, use_dictionary=repeated)


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
        folder = f"{stated.rstrip('/')}/{context.applicationId}"
        return DeltaFolder(_hadoop_uri(folder), open_storage(folder))
    if not is_local(context):
        raise OptionError(
            f"a snapshot of a merge-on-read table needs {MERGE_FOLDER} on a cluster (master {context.master}): the URI of a"
            " folder that driver and executors reach, for the rows merged from log files, kept while the session lives; or read"
            " with hoodie.datasource.query.type=read_optimized"
        )
    place = Path(SparkFiles.getRootDirectory(), "pyhudi-delta")
    place.mkdir(exist_ok=True)
    return DeltaFolder(str(place))


def is_local(context: SparkContext) -> bool:
    """Tell whether all tasks run on the driver's machine."""
    return context.master.startswith("local")


def _hadoop_uri(folder: str) -> str:
    storage_uri = open_storage(folder).uri
    return storage_uri if "://" in storage_uri else f"file:{storage_uri}"
