"""The keys of a commit's extra metadata: those of Hudi that this release reads or writes, and its own, which begin with `pyhudi.`.

Readers of Hudi pass over keys that they do not know. Reads and writes depend on some of these: a renamed key is lost to the tables that
have it.
"""

from __future__ import annotations

from typing import Final

#: The table's Avro schema, without meta fields (`HoodieCommitMetadata.SCHEMA_KEY`).
SCHEMA_KEY: Final = "schema"
#: The schema of a table that keeps a history of it (`SerDeHelper.LATEST_SCHEMA`).
LATEST_SCHEMA: Final = "latest_schema"
#: Release of pyhudi that wrote the commit; a commit without was written by another engine.
WRITER_KEY: Final = "pyhudi.version"
#: Engine that ran the tasks, and why that one.
ENGINE_KEY: Final = "pyhudi.engine"
ENGINE_REASON_KEY: Final = "pyhudi.engine.reason"
#: `true` where log files of the commit may hold the first version of a record (`CommitMetadata.may_begin_records_in_logs`).
LOG_INSERTS_KEY: Final = "pyhudi.new.records.in.logs"
#: The properties that decide keys, paths and rows, behind their CRC-32 (`pyhudi.spec.table_identity`).
IDENTITY_KEY: Final = "pyhudi.table.identity"
#: The CRC-32 of each log file of the commit (`pyhudi.spec.log_checksums`).
LOG_CHECKSUM_KEY: Final = "pyhudi.log.crc32"
#: The instants that were completed before the commit (`pyhudi.spec.committed_instants`).
COMMITTED_KEY: Final = "pyhudi.timeline.completed"
#: Batches of streams by identifier (`HoodieSinkCheckpoint`, `SINK_CHECKPOINT_KEY`), and the query of Spark that wrote the batch.
STREAM_CHECKPOINT_KEY: Final = "_hudi_streaming_sink_checkpoint"
STREAM_QUERY_KEY: Final = "_pyhudi_streaming_query"
