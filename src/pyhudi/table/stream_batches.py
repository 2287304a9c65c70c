"""Which batches of a stream are in a table already: what makes each of them count once, whatever is killed and started again.

Rules: `HoodieStreamingSink`, `CommitUtils.getValidCheckpointForCurrentWriter`. A commit holds, as JSON under the name of the stream, the
number of the batch that it wrote, and the id that Spark keeps in the stream's checkpoint: a stream that was started again, with
another checkpoint, counts its batches from nought again and is another stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import CorruptTableError, UsageError
from pyhudi.spec.extra_metadata import STREAM_CHECKPOINT_KEY, STREAM_QUERY_KEY
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

IDENTIFIER: Final = "hoodie.datasource.write.streaming.checkpoint.identifier"


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """Batch `number` of the stream that Spark knows as `query` and the table as `identifier`."""

    identifier: str
    query: str
    number: int

    @property
    def extra_metadata(self) -> dict[str, str]:
        """What the commit of the batch says of it."""
        return {
            STREAM_CHECKPOINT_KEY: json.dumps({self.identifier: str(self.number)}, separators=(",", ":")),
            STREAM_QUERY_KEY: self.query,
        }


def is_written(storage: Storage, batch: StreamBatch) -> bool:
    """Tell whether a batch is in the table.

    Raises:
        TableNotFound: there is no table.
        UsageError: Apache Hudi wrote later batches under this identifier, from which those of this stream cannot be distinguished.
        CorruptTableError: a commit's entry is damaged.
    """
    for extra_metadata in _newest_first(storage):
        number = _number(extra_metadata, batch.identifier)
        if number is None:
            continue
        query = extra_metadata.get(STREAM_QUERY_KEY)
        if query == batch.query or (query is None and number == batch.number):
            return number >= batch.number
        if query is None and number > batch.number:
            raise UsageError(
                f"table {storage.uri} has batch {number} of the stream '{batch.identifier}', written by Apache Hudi, and now comes batch"
                f" {batch.number}: the stream has a new checkpoint. Give it a name of its own: {IDENTIFIER}=..."
            )
        if query is None:
            return False
    return False


def _newest_first(storage: Storage) -> Iterator[Mapping[str, str]]:
    """Yield the extra metadata of the table's commits; the archive is read when the active ones do not tell."""
    config = TableConfig(load_properties(storage))
    timeline = load_full_timeline(storage, config)
    for instant in reversed(timeline.data_instants()):
        yield load_commit_metadata(storage, config, timeline, instant).extra_metadata
    archived = [one.metadata.extra_metadata for one in archived_instants(storage, config, read_rows) if one.metadata is not None]
    yield from reversed(archived)


def _number(extra_metadata: Mapping[str, str], identifier: str) -> int | None:
    text = extra_metadata.get(STREAM_CHECKPOINT_KEY)
    if text is None:
        return None
    try:
        match = json.loads(text).get(identifier)
        return None if match is None else int(match)
    except (ValueError, AttributeError) as error:
        raise CorruptTableError(f"a commit's {STREAM_CHECKPOINT_KEY} is {text!r}, where a JSON object of numbers belongs") from error
