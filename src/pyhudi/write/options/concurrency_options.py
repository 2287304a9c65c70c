"""Options of locks and of several writers that are written down for later writes, such as properties of a table in a catalog.

They are held against the rules of a write when they are stated, and not only by the first write that takes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyhudi.index.index_options import index_options
from pyhudi.locks.choose_lock import with_lock_provider
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.config.concurrency_keys import CONCURRENCY
from pyhudi.spec.config.config_keys import find_key
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.concurrency import concurrency
from pyhudi.txn.conflicts.early_detection import early_detection
from pyhudi.write.options.non_blocking import check_non_blocking

_KEYS: Final = frozenset(key.name for key in CONCURRENCY)


def concern_concurrency(names: Iterable[str]) -> bool:
    """Tell whether options are about locks or several writers.

    Example:
        >>> concern_concurrency(["hoodie.write.lock.provider"]), concern_concurrency(["hoodie.parquet.block.size"])
        (True, False)
    """
    return any(key is not None and key.name in _KEYS for key in map(find_key, names))


def check_concurrency(options: Options, storage: Storage, config: TableConfig) -> None:
    """Refuse what no write of the table can have. No server of a lock provider is asked.

    Args:
        options: of a write that takes what is stated.
        storage: the table's.
        config: the table's properties.

    Raises:
        OptionError: an option of the lock provider is missing, wrong or another provider's, or there is no such concurrency mode.
        UnsupportedError: the provider or a strategy is not served, or the table cannot be written in that mode.
    """
    provided, detection = with_lock_provider(storage, options), early_detection(options)
    if detection is not None:
        detection.group_locks(provided)
    if concurrency(options).is_non_blocking:
        check_non_blocking(config, Operation.UPSERT, index_options(options))
