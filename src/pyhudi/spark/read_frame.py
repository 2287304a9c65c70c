"""A query of a table as a DataFrame, whatever it asks for."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from pyhudi.read.cdc import open_change_data
from pyhudi.read.changes import ChangesQuery, open_query
from pyhudi.read.query import SnapshotQuery
from pyhudi.spark.change_data import change_frame
from pyhudi.spark.counted import with_count
from pyhudi.spark.scan import scan
from pyhudi.storage.protocol import Storage


def read_frame(session: SparkSession, storage: Storage, query: SnapshotQuery | ChangesQuery, merge_folder: str | None = None) -> DataFrame:
    """Return what a query asks of a table; `merge_folder` is the option `pyhudi.merge.folder`.

    Raises:
        TableNotFound: there is no table.
        UsageError: the query does not fit the table, or what it needs is gone.
    """
    if isinstance(query, ChangesQuery) and query.change_data:
        return change_frame(session, open_change_data(storage, query))
    snapshot = open_query(storage, query)
    return with_count(scan(session, snapshot, merge_folder), snapshot)
