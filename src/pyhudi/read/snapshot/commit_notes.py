"""What the newest commit of this package notes of its table, compared with the table as it is: its properties, and its completed writes.

Apache Hudi commits without notes, so the newest commit that has them is looked for among the last ones. What was found is kept in memory:
a completed commit never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyhudi.cache import LruCache
from pyhudi.read.snapshot.identity_check import check_identity
from pyhudi.read.snapshot.lost_instants import check_no_instant_lost
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.extra_metadata import COMMITTED_KEY, IDENTITY_KEY
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_extra_metadata, read_details
from pyhudi.timeline.timeline import Timeline

#: How many commits, from the newest one, are looked at for notes: each costs one read where no commit of this package is among them.
_MOST_COMMITS: Final = 16


@dataclass(frozen=True, slots=True)
class _Notes:
    """Strings of the notes of one commit; the first is empty where another writer made it, the second where nothing was committed
    before.
    """

    identity: str = ""
    committed: str = ""


_NONE: Final = _Notes()
#: Notes of commits by table, requested time and completion time.
_Key: TypeAlias = tuple[str, str, str]
_KNOWN: LruCache[_Key, _Notes] = LruCache(4096)


def check_notes(
    storage: Storage,
    config: TableConfig,
    timeline: Timeline,
    read: tuple[Instant, CommitMetadata] | None = None,
    *,
    is_past: bool = False,
    given_up: frozenset[str] = frozenset(),
) -> None:
    """Compare a table with the newest notes of its active timeline; without any among the newest commits nothing is compared.

    Args:
        storage: the table's.
        config: its properties.
        timeline: the table's.
        read: a commit that the caller has read already, so that it is not read again.
        is_past: whether the timeline ends before that of now, so that what upgrades change may have been otherwise.
        given_up: requested times of writes that a caller rolls back by name, completed or not.

    Raises:
        CorruptTableError: the properties, the timeline or the notes are damaged.
    """
    newest = _newest(storage, config, timeline, read)
    if newest is None:
        return
    instant, notes = newest
    check_identity(storage, config, timeline, instant, notes.identity, is_past=is_past)
    if notes.committed:
        check_no_instant_lost(storage, config, timeline, instant, notes.committed, given_up)


def _newest(
    storage: Storage, config: TableConfig, timeline: Timeline, read: tuple[Instant, CommitMetadata] | None
) -> tuple[Instant, _Notes] | None:
    for position, instant in enumerate(timeline.data_instants()[: -_MOST_COMMITS - 1 : -1]):
        if read is not None and instant == read[0]:
            notes = _of_extra_metadata(read[1].extra_metadata)
        elif position == 0:  # a commit that is there again, as after a restore, is not taken from memory
            notes = _read(storage, config, timeline, instant)
        else:
            notes = _known(storage, config, timeline, instant)
        if notes.identity:
            return instant, notes
    return None


def _known(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> _Notes:
    """Return the notes of a commit, which is read once for the process."""
    key = (storage.uri, instant.requested, instant.completed or "")
    notes = _KNOWN.get(key)
    if notes is None:
        notes = _read(storage, config, timeline, instant)
        _KNOWN.put(key, notes)
    return notes


def _read(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> _Notes:
    try:
        if IDENTITY_KEY.encode() not in read_details(storage, config, timeline, instant):
            return _NONE  # decoding takes far longer, and notes are not compressed
        return _of_extra_metadata(load_extra_metadata(storage, config, timeline, instant))
    except FileNotFoundError:  # archived since the timeline was loaded
        return _NONE


def _of_extra_metadata(extra_metadata: Mapping[str, str]) -> _Notes:
    return _Notes(extra_metadata.get(IDENTITY_KEY, ""), extra_metadata.get(COMMITTED_KEY, ""))
