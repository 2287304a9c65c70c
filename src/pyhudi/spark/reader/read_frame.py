"""A query of a table as a DataFrame, whatever it asks for."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from pyhudi.read.incremental.cdc_query import open_change_data
from pyhudi.read.incremental.incremental import ChangesQuery, open_query
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spark.reader.change_frame import change_frame
from pyhudi.spark.scan.count_hook import with_count
from pyhudi.spark.scan.scan import scan
from pyhudi.storage.storage_protocol import Storage


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
        UsageError: the query does not fit the table, or what it needs is missing.
    """
    if isinstance(query, ChangesQuery) and query.change_data:
        return change_frame(session, open_change_data(storage, query))
    snapshot = open_query(storage, query)
    if known is not None:
        snapshot.share_files(known)
    return with_count(scan(session, snapshot, merge_folder), snapshot)
