"""Clusterings that give way to writes that are at work, by the conflict strategy PreferWriter.

Rules: `PreferWriterConflictResolutionStrategy`; docs/format/concurrency.md#conflict-resolution. The inflight file of a write says what it
will change. A write that is only requested has said nothing yet.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from pyhudi.errors import ConflictError
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.options import Options
from pyhudi.timeline.instant_details import read_commit
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.txn.concurrency import ConflictStrategy, concurrency
from pyhudi.txn.heartbeat_settings import DEFAULTS, HeartbeatSettings, heartbeat_settings
from pyhudi.txn.heartbeats import is_alive
from pyhudi.txn.locked_table import TableState

FAILS_ON_REQUESTED: Final = "hoodie.clustering.fail.on.pending.ingestion.during.conflict.resolution"


@dataclass(frozen=True, slots=True)
class IngestionRules:
    """Whether a clustering gives way to writes that are inflight; with `fails_on_requested` also to those that have just begun.

    `heartbeats` say how long such a write counts as alive.
    """

    gives_way: bool = False
    fails_on_requested: bool = False
    heartbeats: HeartbeatSettings = DEFAULTS


PREFERS_NOBODY: Final = IngestionRules()


def ingestion_rules(options: Options) -> IngestionRules:
    """Return what the options decide; errors as in `pyhudi.txn.concurrency.concurrency`.

    Example:
        >>> from pyhudi.spec.options import Options
        >>> ingestion_rules(Options()).gives_way
        False
    """
    if concurrency(options).strategy is not ConflictStrategy.PREFER_WRITER:
        return PREFERS_NOBODY
    heartbeats = heartbeat_settings(options)
    # One miss more than other writers tolerate, as in Apache Hudi.
    return IngestionRules(True, options.flag(FAILS_ON_REQUESTED), replace(heartbeats, tolerable_misses=heartbeats.tolerable_misses + 1))


def check_ingestion(table: TableState, clustering: Instant, groups: Collection[FileGroupId], rules: IngestionRules) -> None:
    """Refuse to complete a clustering of file groups that a write is changing.

    Args:
        table: the table, under the lock of the clustering's completion.
        clustering: the clustering.
        groups: the file groups that it replaces.
        rules: what the options say.

    Raises:
        ConflictError: names the write.
    """
    if not rules.gives_way:
        return
    for write in table.timeline.pending():
        if not write.action.writes_data or pending_clustering(table.storage, table.config, write) is not None:
            continue
        if write.state is State.INFLIGHT:
            changed = _changed(read_commit(table.storage, table.config, write), groups, replaces=write.action is Action.REPLACE_COMMIT)
            if changed is not None:
                raise _lost(table, clustering, write, f"is changing {changed}")
        elif rules.fails_on_requested and is_alive(table.storage, write.requested, table.clock, rules.heartbeats):
            raise _lost(table, clustering, write, f"has begun, and {FAILS_ON_REQUESTED}=true")


def _changed(profile: CommitMetadata, groups: Collection[FileGroupId], *, replaces: bool) -> str | None:
    """Return which file groups, or partitions, of a clustering a write says that it changes; None when none."""
    files = {FileGroupId(path, stat.file_id) for path, stats in profile.stats.items() for stat in stats if stat.file_id}
    if both := sorted(files.intersection(groups)):
        return f"file group {both[0].file_id} in '{both[0].partition_path}'"
    partitions = profile.stats.keys() or {group.partition_path for group in groups}  # it does not say which
    replaced = sorted({group.partition_path for group in groups}.intersection(partitions)) if replaces else []
    return f"partition '{replaced[0]}'" if replaced else None


def _lost(table: TableState, clustering: Instant, write: Instant, what: str) -> ConflictError:
    return ConflictError(
        f"{write.action} {write.requested} of table {table.storage.uri} {what}: {clustering.action} {clustering.requested} gives way to it"
        " by the conflict strategy PreferWriter. Nothing of the clustering is visible. Cluster again when the write is done; if it has"
        " completed, roll back a plan that is still pending first:"
        f" HudiTable.open('{table.storage.uri}').services.rollback('{clustering.requested}')."
    )
