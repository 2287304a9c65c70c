"""A query of a table as a DataFrame, whatever it asks for."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from pyhudi.read.cdc import open_change_data
from pyhudi.read.changes import ChangesQuery, open_query
from pyhudi.read.query import SnapshotQuery
from pyhudi.read.snapshot import Snapshot
from pyhudi.spark.change_data import change_frame
from pyhudi.spark.counted import with_count
from pyhudi.spark.scan import scan
from pyhudi.storage.protocol import Storage


def read_frame(
    session: SparkSession,
    storage: Storage,
    query: SnapshotQuery | ChangesQuery,
    merge_folder: str | None = None,
    known: Snapshot | None = None,
) -> DataFrame:
    """Return what a query asks of a table.

    Args:
        session: Where the rows are read.
        storage: Where the table is.
        query: What is asked.
        merge_folder: The option `pyhudi.merge.folder`.
        known: A snapshot of the table whose files may be known already.

    Raises:
        TableNotFound: there is no table.
        UsageError: the query does not fit the table, or what it needs is gone.
    """
    if isinstance(query, ChangesQuery) and query.change_data:
        return change_frame(session, open_change_data(storage, query))
    snapshot = open_query(storage, query)
    if known is not None:
        snapshot.share_files(known)
    return with_count(scan(session, snapshot, merge_folder), snapshot)
