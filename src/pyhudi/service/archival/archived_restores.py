"""Restores and index builds in the archive of layout 2: a restore as the rollback that it was, an index build not at all.

Apache Hudi never archives them, and reads merge-on-read tables wrongly for it (`hides_archived`); but its downgrade to version 6 fails
half-way at a row of either in the archive (docs/design/0188-restores-in-the-archive.md).
"""

from __future__ import annotations

from typing import Final

from pyhudi.codec.actions.rollback_codec import encode_rollback_metadata
from pyhudi.codec.avro.avro_container import SYNC_LENGTH
from pyhudi.spec.actions.restore import RestoreMetadata
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_timeline_lsm import ArchivedRow
from pyhudi.timeline.instant_details import decode_action_of, read_bytes

#: Actions that Apache Hudi does not archive.
NEVER_BY_HUDI: Final = frozenset({Action.RESTORE, Action.INDEXING})


def hides_archived(layout: int, *, is_merge_on_read: bool) -> bool:
    """Tell whether Apache Hudi reads a table wrongly whose first active action is older than commits that are archived.

    It takes commits after the first active action, of whatever kind, for pending if they are not active (`CompletionTimeQueryViewV2`), and
    log files of pending commits for those of the latest slice. In layout 1 it asks the first active write instead.
    """
    return layout > 1 and is_merge_on_read


def archived_action(action: Action) -> Action | None:
    """Return the action as which one is in the archive; None when it is left out."""
    return {Action.RESTORE: Action.ROLLBACK, Action.INDEXING: None}.get(action, action)


def row_of_restore(storage: Storage, config: TableConfig, restore: Instant, completed: str | None) -> ArchivedRow:
    """Return the row of a completed restore, which says what it rolled back; the same one each time.

    Raises:
        CorruptTableError: the file of the restore is damaged.
    """
    data = read_bytes(storage, config, restore)
    done, sync = decode_action_of(storage, config, restore, data), data[-SYNC_LENGTH:]  # the marker of the container it was in
    metadata = encode_rollback_metadata(done.as_rollback(), sync=sync) if isinstance(done, RestoreMetadata) else None
    return ArchivedRow(restore.requested, completed, Action.ROLLBACK.value, metadata)
