"""What non-blocking concurrency control excludes: known from the options and the table's properties, before anything is written.

Rules: `HoodieWriteConfig`, `CommonClientUtils.validateTableVersion`, `JavaUpsertPartitioner`; docs/format/concurrency.md. Whether the file
groups of a table are buckets where no option names the index: `pyhudi.txn.optimistic`.
"""

from __future__ import annotations

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.index.index_options import BUCKET, TYPE, IndexOptions, index_options
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.config.concurrency_keys import MODE
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.txn.concurrency import ConcurrencyMode, concurrency_mode

_OTHERWISE = f"Leave {MODE} out, or set it to {ConcurrencyMode.OPTIMISTIC}, for all writers of the table."


def check_mode(options: Options, config: TableConfig, version: int | None = None) -> None:
    """Refuse a mode in which no writer of the table can be: a service, or a change of the table, that is given it would be the only one.

    Args:
        options: of the service or the change.
        config: the table's properties.
        version: to which the table is moved.

    Raises:
        OptionError: there is no such mode, or the options name an index that it excludes.
        UnsupportedError: the table cannot be written in it.
    """
    if options.get(MODE) is None or concurrency_mode(options) is not ConcurrencyMode.NON_BLOCKING:
        return
    _check_table(config, version or config.version)
    _check_index(index_options(options))


def check_non_blocking(config: TableConfig, operation: Operation, index: IndexOptions) -> None:
    """Refuse a write that cannot be non-blocking.

    Raises:
        UnsupportedError: the table is copy-on-write, of version 6 or without meta columns, or the operation replaces file groups.
        OptionError: the options name another index than the simple bucket index.
    """
    _check_table(config, config.version)
    if operation.replaces:
        raise UnsupportedError(
            f"{MODE}={ConcurrencyMode.NON_BLOCKING}: {operation.value.lower()} replaces file groups, to which other writers may be"
            f" appending. {_OTHERWISE}"
        )
    _check_index(index)


def _check_table(config: TableConfig, version: int) -> None:
    why = ""
    if not config.is_merge_on_read:
        why = "is copy-on-write, and only log files can be written at the same time"
    elif version < TableVersion.EIGHT:
        why = f"is of version {version}, whose log files are not ordered by the completion of their commits"
    elif not config.populate_meta_fields or not config.record_key_fields:
        why = "has no record key, or no column for it, and so no bucket index"
    if why:
        raise UnsupportedError(f"{MODE}={ConcurrencyMode.NON_BLOCKING}: table {config.name} {why}. {_OTHERWISE}")


def _check_index(index: IndexOptions) -> None:
    if index.name not in (None, BUCKET) or index.consistent:
        named = f"{TYPE}={index.name}" if index.name not in (None, BUCKET) else "hoodie.index.bucket.engine=CONSISTENT_HASHING"
        raise OptionError(
            f"{MODE}={ConcurrencyMode.NON_BLOCKING} needs the simple bucket index, and {named} names another one. Set {TYPE}={BUCKET} with"
            f" the engine SIMPLE. {_OTHERWISE}"
        )
