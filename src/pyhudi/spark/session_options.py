"""The `hoodie.*` settings of a Spark session, as `SET hoodie.x = y` and `spark.hoodie.x` state them."""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyhudi.read.query import SnapshotQuery
from pyhudi.spark import jvm
from pyhudi.spec.options import resolve

_PREFIX = "hoodie."
_SPARK_PREFIX = "spark.hoodie."
_BY_METADATA_TABLE = "hoodie.metadata.enable"
_SKIPS_DATA = "hoodie.enable.data.skipping"


def session_options(session: SparkSession) -> dict[str, str]:
    """Return the session's `hoodie.*` settings in one round trip; `spark.hoodie.x` loses to `hoodie.x`."""
    found = jvm.entries_of(jvm.jvm_session(session).conf().getAll())
    spark = {key.removeprefix("spark."): value for key, value in found.items() if key.startswith(_SPARK_PREFIX)}
    return {**spark, **{key: value for key, value in found.items() if key.startswith(_PREFIX)}}


def table_query(session: SparkSession) -> SnapshotQuery:
    """Return how tables of the catalog are read: as they are now, with the indexes that the session's settings allow.

    Raises:
        OptionError: one of the settings has a bad value.
    """
    found = session_options(session)
    options = resolve({name: found[name] for name in (_BY_METADATA_TABLE, _SKIPS_DATA) if name in found})
    return SnapshotQuery(use_metadata_table=options.flag(_BY_METADATA_TABLE), skips_data=options.flag(_SKIPS_DATA))
