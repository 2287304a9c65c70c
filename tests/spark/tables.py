"""Small copy-on-write tables made by hand, in the layout of version 6, whose commits are plain JSON: no writer of pyhudi is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.schema.avro_arrow import arrow_to_avro
from pyhudi.schema.meta_columns import with_meta_columns

INSTANT = "20260101000000000"


def make_table(
    folder: Path,
    schema: pa.Schema,
    partitions: Mapping[str, pa.Table],
    properties: Mapping[str, str] | None = None,
    *,
    instant: str = INSTANT,
) -> Path:
    """Make a table whose partitions hold one base file each; `schema` and the rows are without meta columns."""
    meta = folder / ".hoodie"
    meta.mkdir(parents=True, exist_ok=True)
    stated = {
        "hoodie.table.name": "t",
        "hoodie.table.version": "6",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.timeline.layout.version": "1",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.base.file.format": "PARQUET",
        **(properties or {}),
    }
    (meta / "hoodie.properties").write_text("".join(f"{key}={value}\n" for key, value in stated.items()))
    add_commit(folder, schema, partitions, instant)
    return folder


def add_commit(folder: Path, schema: pa.Schema, partitions: Mapping[str, pa.Table], instant: str) -> None:
    """Commit one new base file in each partition: later rows of the same file group replace the earlier ones."""
    stats = {path: [write_base_file(folder, path, rows, instant)] for path, rows in partitions.items()}
    commit = {
        "partitionToWriteStats": stats,
        "compacted": False,
        "extraMetadata": {"schema": arrow_to_avro(schema, "t")},
        "operationType": "UPSERT",
    }
    for state, content in ((".commit.requested", ""), (".inflight", "{}"), (".commit", json.dumps(commit))):
        (folder / ".hoodie" / f"{instant}{state}").write_text(content)


def write_base_file(folder: Path, path: str, rows: pa.Table, instant: str) -> dict[str, Any]:
    """Write a base file and its partition's metafile; returns the write stat."""
    name = f"{abs(hash(path)):08x}-0_0-0-0_{instant}.parquet"
    index = folder / path
    index.mkdir(parents=True, exist_ok=True)
    depth = len(Path(path).parts)
    (index / ".hoodie_partition_metadata").write_text(f"commitTime={instant}\npartitionDepth={depth}\n")
    pq.write_table(with_meta(rows, path, name, instant), index / name)
    relative = f"{path}/{name}" if path else name
    return {
        "fileId": name.split("_", maxsplit=1)[0],
        "path": relative,
        "prevCommit": "null",
        "numWrites": rows.num_rows,
        "numInserts": rows.num_rows,
        "partitionPath": path,
        "fileSizeInBytes": (index / name).stat().st_size,
    }


def with_meta(rows: pa.Table, path: str, name: str, instant: str) -> pa.Table:
    """Return the rows with the five meta columns in front."""
    keys = [str(value) for value in rows.column("id").to_pylist()] if "id" in rows.column_names else []
    keys = keys or [str(number) for number in range(rows.num_rows)]
    meta = [[instant] * len(keys), [f"{instant}_0_{n}" for n in range(len(keys))], keys, [path] * len(keys), [name] * len(keys)]
    columns = [pa.array(values, pa.string()) for values in meta]
    return pa.table([*columns, *rows.columns], schema=with_meta_columns(rows.schema))
