"""Which lock provider a table is written under, recorded by the first writer that uses one.

A writer that takes only the lock of its own machine would not exclude the others, so it is refused by name. The record is
`.hoodie/.locks/pyhudi-lock-provider-<id>.json`. A first writer makes its record, then looks for others: of two, one at least sees the other
and withdraws.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.storage.lock_files.record_files import RecordFiles
from pyhudi.storage.storage_protocol import Storage

_RECORDS: Final = RecordFiles("pyhudi-lock-provider", "provider")


def check_provider(storage: Storage, provider: str, names: Sequence[str]) -> None:
    """Refuse a writer under another lock provider than the recorded one; record the first one.

    Args:
        storage: the table's; the caller holds its own lock.
        provider: the identity of the writer's provider, `""` for none.
        names: of the files in the folder of locks.

    Raises:
        OptionError: names both providers.
    """
    recorded = _RECORDS.ids(names)
    mine = hashlib.md5(provider.encode(), usedforsecurity=False).hexdigest() if provider else ""
    if recorded == ([mine] if provider else []):
        return
    if provider and not recorded:
        _RECORDS.create(storage, mine, provider)
        recorded = _RECORDS.stored_ids(storage)
        if recorded == [mine]:
            return
        _RECORDS.delete(storage, mine)
    others = " and ".join(_RECORDS.stated(storage, one) for one in recorded if one != mine)
    raise OptionError(
        f"table {storage.uri} is written under the lock provider {others}, and this writer would take {provider or 'none'}. Writers under"
        " two locks destroy a table: give hoodie.write.lock.provider and its options as its other writers do, with the call, in the storage"
        " options of the table or in hudi-defaults.conf. If the table is to be written under another lock from now on, end all its"
        " writers, open it with the new options and record them by table.inspect.health(fix_lock=True)."
    )


def forget_provider(storage: Storage) -> None:
    """Delete what says under which lock provider a table is written. No writer may be at work."""
    _RECORDS.delete(storage, *_RECORDS.stored_ids(storage))
