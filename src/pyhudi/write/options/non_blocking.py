"""What non-blocking concurrency control excludes: known from the options and the table's properties, before anything is written.

Rules: `HoodieWriteConfig`, `CommonClientUtils.validateTableVersion`, `JavaUpsertPartitioner`; docs/format/concurrency.md. Whether the file
groups of a table are buckets where no option names the index: `pyhudi.txn.optimistic`.
"""

from __future__ import annotations

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.index.index_options import BUCKET, TYPE, IndexOptions
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.config.concurrency_keys import MODE
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.txn.concurrency import ConcurrencyMode

_OTHERWISE = f"Leave {MODE} out, or set it to {ConcurrencyMode.OPTIMISTIC}, for all writers of the table."


def check_non_blocking(config: TableConfig, operation: Operation, index: IndexOptions) -> None:
    """Refuse a write that cannot be non-blocking.

    Raises:
        UnsupportedError: the table is copy-on-write, of version 6 or without meta columns, or the operation replaces file groups.
        OptionError: the options name another index than the simple bucket index.
    """
    why = ""
    if not config.is_merge_on_read:
        why = "is copy-on-write, and only log files can be written at the same time"
    elif config.version < TableVersion.EIGHT:
        why = f"is of version {int(config.version)}, whose log files are not ordered by the completion of their commits"
    elif not config.populate_meta_fields or not config.record_key_fields:
        why = "has no record key, or no column for it, and so no bucket index"
    if why:
        raise UnsupportedError(f"{MODE}={ConcurrencyMode.NON_BLOCKING}: table {config.name} {why}. {_OTHERWISE}")
    if operation.replaces:
        raise UnsupportedError(
            f"{MODE}={ConcurrencyMode.NON_BLOCKING}: {operation.value.lower()} replaces file groups, to which other writers may be"
            f" appending. {_OTHERWISE}"
        )
    if index.name not in (None, BUCKET) or index.consistent:
        named = f"{TYPE}={index.name}" if index.name not in (None, BUCKET) else "hoodie.index.bucket.engine=CONSISTENT_HASHING"
        raise OptionError(
            f"{MODE}={ConcurrencyMode.NON_BLOCKING} needs the simple bucket index, and {named} names another one. Set {TYPE}={BUCKET} with"
            f" the engine SIMPLE. {_OTHERWISE}"
        )
