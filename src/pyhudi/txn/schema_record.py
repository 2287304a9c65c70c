"""What a commit says about the table's schema: the Avro text, and where columns have numbers the version with its history.

Rules: `BaseHoodieWriteClient.saveInternalSchema`: each commit repeats the version it wrote with and stores the history once more, since
older commits are archived.
"""

from __future__ import annotations

import pyarrow as pa

from pyhudi.schema.internal.as_json import history_to_json, to_json
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.spec.extra_metadata import LATEST_SCHEMA
from pyhudi.timeline.schema_files import store_schema_file
from pyhudi.txn.locked_table import LockedTable


def record_version(table: LockedTable, instant: str, columns: pa.Schema) -> dict[str, str]:
    """Store the history of a table's schema for a commit about to complete, and return the entry for its metadata.

    Nothing is stored, and no entry needed, for a table whose columns have no numbers.

    Args:
        table: the locked table.
        instant: requested time of the commit.
        columns: the columns it wrote, with their history.
    """
    history = history_of(columns)
    if history is None:
        return {}
    written = history.written(instant)
    store_schema_file(table.storage, table.config, table.timeline, instant, table.times.next(), history_to_json(written.versions))
    return {LATEST_SCHEMA: to_json(written.current)}
