"""One archived state file as an entry of a version 6 archive, and back to the files that it was.

Rules: `MetadataConversionUtils.createMetaWrapper`, `HoodieArchivedMetaEntry`. An entry holds requested time, action and state of a file,
and what the file says in the field that belongs to its kind; files that say nothing leave all of them empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pyhudi.codec.actions.commit_metadata import COMMIT, REPLACE, commit_record, decode_commit, encode_commit, metadata_from
from pyhudi.codec.avro.avro_record import Record, decode_record, encode_record
from pyhudi.errors import CorruptTableError
from pyhudi.spec.instant import Action, Instant, State

_CLEAN_PLAN = ("hoodieCleanerPlan", "HoodieCleanerPlan")
_COMPACTION_PLAN = ("hoodieCompactionPlan", "HoodieCompactionPlan")
_REPLACE_PLAN = ("hoodieRequestedReplaceMetadata", "HoodieRequestedReplaceMetadata")
#: Field of an entry and name of its record, by action and state; what is not listed has no field.
_FIELDS: Final[Mapping[tuple[Action, State], tuple[str, str]]] = {
    (Action.COMMIT, State.INFLIGHT): ("hoodieCommitMetadata", COMMIT),
    (Action.COMMIT, State.COMPLETED): ("hoodieCommitMetadata", COMMIT),
    (Action.DELTA_COMMIT, State.INFLIGHT): ("hoodieCommitMetadata", COMMIT),
    (Action.DELTA_COMMIT, State.COMPLETED): ("hoodieCommitMetadata", COMMIT),
    (Action.REPLACE_COMMIT, State.REQUESTED): _REPLACE_PLAN,
    (Action.CLUSTERING, State.REQUESTED): _REPLACE_PLAN,
    (Action.REPLACE_COMMIT, State.INFLIGHT): ("HoodieInflightReplaceMetadata", COMMIT),
    (Action.REPLACE_COMMIT, State.COMPLETED): ("hoodieReplaceCommitMetadata", REPLACE),
    (Action.COMPACTION, State.REQUESTED): _COMPACTION_PLAN,
    (Action.LOG_COMPACTION, State.REQUESTED): _COMPACTION_PLAN,
    (Action.CLEAN, State.REQUESTED): _CLEAN_PLAN,
    (Action.CLEAN, State.INFLIGHT): _CLEAN_PLAN,
    (Action.CLEAN, State.COMPLETED): ("hoodieCleanMetadata", "HoodieCleanMetadata"),
    (Action.ROLLBACK, State.COMPLETED): ("hoodieRollbackMetadata", "HoodieRollbackMetadata"),
    (Action.SAVEPOINT, State.COMPLETED): ("hoodieSavePointMetadata", "HoodieSavepointMetadata"),
    (Action.INDEXING, State.COMPLETED): ("hoodieIndexCommitMetadata", "HoodieIndexCommitMetadata"),
}
_OF_COMMITS: Final = frozenset({COMMIT, REPLACE})


def entry_of_file(instant: Instant, content: bytes, transition_time: str | None) -> Record:
    """Return the entry of a state file.

    Args:
        instant: the instant in the state of the file.
        content: what the file holds, of either timeline layout.
        transition_time: when the file was written.

    Raises:
        CorruptTableError: a completed file does not hold what such a file holds; of pending ones, which are not read, it is left out.
    """
    action = Action.REPLACE_COMMIT if instant.action is Action.CLUSTERING else instant.action
    entry: Record = {
        "commitTime": instant.requested,
        "actionType": action.value,
        "actionState": instant.state.name,
        "stateTransitionTime": transition_time,
    }
    match = _FIELDS.get((instant.action, instant.state))
    if match is None or not content:
        return entry
    field, name = match
    try:
        entry[field] = _commit_fields(content, name) if name in _OF_COMMITS else decode_record(content, name)[1]
    except CorruptTableError:
        if instant.is_completed:
            raise
    return entry


def content_of_entry(entry: Record, instant: Instant, *, sync: bytes) -> bytes | None:
    """Return what the state file of an entry holds in timeline layout 2; None when it says nothing.

    Args:
        entry: the record of the entry.
        instant: the instant that it is of, in its state.
        sync: the 16 random bytes of the container.
    """
    match = _FIELDS.get((instant.action, instant.state))
    record: Any = None if match is None else entry.get(match[0])
    if match is None or not isinstance(record, dict):
        return None
    return encode_commit(metadata_from(record), sync=sync) if match[1] in _OF_COMMITS else encode_record(match[1], record, sync=sync)


def _commit_fields(content: bytes, name: str) -> Record:
    metadata = decode_commit(content)
    return commit_record(replace(metadata, replaced=None) if name == COMMIT else replace(metadata, replaced=metadata.replaced or {}))
