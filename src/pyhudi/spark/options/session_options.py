"""The `hoodie.*` settings of a Spark session, as `SET hoodie.x = y` and `spark.hoodie.x` state them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pyspark.sql import SparkSession

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.read.incremental.changes_options import (
    END,
    FILTERS,
    PATH_GLOB,
    TIMES_OF_VERSION,
    goes_by_requested,
    holes_policy,
    is_incremental,
)
from pyhudi.read.incremental.incremental import SCHEMA_AT_END, ChangesQuery
from pyhudi.read.incremental.instant_range import FULL_SCAN, HOLES
from pyhudi.read.snapshot.query_type import (
    DATA_SKIPPING,
    MERGE_SIZE,
    MERGE_TYPE,
    METADATA_TABLE,
    PATH_VALUES,
    QUERY_TYPE,
    SHOWS_INSTANTS,
    SHOWS_SLICES,
    VERIFY_CHECKSUMS,
    QueryType,
    SnapshotQuery,
    snapshot_query,
)
from pyhudi.read.snapshot.unused_indexes import INDEX_SWITCHES
from pyhudi.spark.jvm import jvm
from pyhudi.spec.options import Options, merge_options, note_without_effect, resolve, same_key
from pyhudi.storage.defaults_file import default_write_options

_PREFIX: Final = "hoodie."
_SPARK_PREFIX: Final = "spark.hoodie."
#: How settings of pyhudi's own begin that hold for all options, and for reads.
_ABOUT_OPTIONS: Final = "pyhudi.options."
_PREFIX_OF_READS: Final = "pyhudi.read."
_OF_READS: Final = (
    QUERY_TYPE,
    METADATA_TABLE,
    DATA_SKIPPING,
    MERGE_SIZE,
    MERGE_TYPE,
    PATH_VALUES,
    SCHEMA_AT_END,
    SHOWS_SLICES,
    SHOWS_INSTANTS,
    VERIFY_CHECKSUMS,
    *INDEX_SWITCHES,
)
_OF_CHANGES: Final = (*_OF_READS, END, FULL_SCAN, PATH_GLOB, HOLES, TIMES_OF_VERSION)


def session_options(session: SparkSession, *more: str) -> dict[str, str]:
    """Return the session's settings about tables, and those that begin with `more`; `spark.hoodie.x` loses to `hoodie.x`.

    It takes one round trip.
    """
    settings = jvm.entries_of(jvm.jvm_session(session).conf().getAll())
    spark = {key.removeprefix("spark."): value for key, value in settings.items() if key.startswith(_SPARK_PREFIX)}
    return {**spark, **{key: value for key, value in settings.items() if key.startswith((_PREFIX, _ABOUT_OPTIONS, *more))}}


def read_defaults(session: SparkSession) -> dict[str, str]:
    """Return what holds for reads that do not say otherwise: the defaults file, then the session's settings."""
    return merge_options(default_write_options(), session_options(session, _PREFIX_OF_READS))


def table_query(session: SparkSession, *, whole: bool = False) -> SnapshotQuery:
    """Return how SQL reads tables of the catalog: as they are now, in the way that file and session ask for; `whole` for all their rows
    whatever these say.

    Raises:
        OptionError: one of the settings has a bad value.
        UnsupportedError: they ask for changes.
    """
    options = _of_reads(session)
    if whole:
        return _of_all_rows(options)
    if is_incremental(options):
        raise UnsupportedError(
            f"{QUERY_TYPE}=incremental is not served as a setting of a session: ask hudi_table_changes('table', 'latest_state', '<begin>')"
            " for changes, or give it as option of one read."
        )
    return snapshot_query(options)


def query_of_mode(session: SparkSession, mode: QueryType) -> SnapshotQuery:
    """Return the query of a mode that a function of SQL states, in the way that file and session ask for.

    Raises:
        OptionError: one of the settings has a bad value.
    """
    return replace(snapshot_query(_of_reads(session)), mode=mode)


def changes_of_session(session: SparkSession, query: ChangesQuery) -> ChangesQuery:
    """Return a query of `hudi_table_changes` with what the session says besides its arguments, as observed with Apache Hudi 1.2.0: the end
    where no argument states one, a pattern of paths, columns of the end, the scan of the whole table; and how files are found and times
    meant. Filters of incremental reads have no effect on the function, which is logged.

    Raises:
        OptionError: one of the settings has a bad value, or a pattern of paths meets change data.
    """
    options = _of_reads(session, _OF_CHANGES)
    if any(same_key(name, FILTERS) for name in read_defaults(session)):
        note_without_effect(FILTERS, "is for DataFrames that are read: filter the rows of hudi_table_changes with WHERE")
    glob = options.get(PATH_GLOB)
    if glob is not None and query.change_data:
        raise OptionError(f"{PATH_GLOB} is a setting of this session, and not for change data: RESET {PATH_GLOB}, and filter the rows.")
    return replace(
        query,
        until=options.get(END) if query.until is None else query.until,
        reading=_of_all_rows(options),
        by_requested=goes_by_requested(options, TIMES_OF_VERSION),
        holes=holes_policy(options),
        may_scan=options.flag(FULL_SCAN),
        file_glob=glob,
        schema_at_end=options.flag(SCHEMA_AT_END),
    )


def shows_whole(session: SparkSession) -> bool:
    """Tell whether the session's own reads of tables show all rows, too."""
    options = _of_reads(session)
    return not is_incremental(options) and snapshot_query(options).shows_all_rows


def _of_all_rows(options: Options) -> SnapshotQuery:
    """Return the query of all rows that there are, found and read as the options say."""
    return replace(snapshot_query(options), mode="snapshot", merges_logs=True, takes_path_values=False)


def _of_reads(session: SparkSession, keys: Sequence[str] = _OF_READS) -> Options:
    return resolve({name: value for name, value in read_defaults(session).items() if any(same_key(name, key) for key in keys)})


def note_settings_of_session(session: SparkSession, options: Mapping[str, str]) -> None:
    """Log, once for each, the settings that a DataFrame's write does not look at: it goes by its options, as in Apache Hudi."""
    for name in session_options(session):
        if not any(same_key(name, given) for given in options):
            note_without_effect(name, "is a setting of the session, and a DataFrame is written by its own options: give it as one of these")
