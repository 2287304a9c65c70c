"""Restores and index builds of a table that comes to layout 2: those that are older than archived writes leave the active timeline.

Apache Hudi never archives them, which does no harm in layout 1; in layout 2 it would read the table wrongly
(`pyhudi.service.archival.archived_restores`). On the way back nothing is to be done: the archive holds restores as rollbacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyhudi.service.archival.archived_restores import NEVER_BY_HUDI, hides_archived, row_of_restore
from pyhudi.service.upgrade.convert_timeline import StateFile
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.archived_timeline_lsm import ArchivedRow
from pyhudi.txn.locked_table import LockedTable


def leaving(files: Sequence[StateFile], target: TableConfig, archived: Iterable[ArchivedRow]) -> frozenset[tuple[str, Action]]:
    """Return requested times and actions of the completed restores and index builds that leave the active timeline."""
    if not hides_archived(target.layout, is_merge_on_read=target.is_merge_on_read):
        return frozenset()
    last = max((row.requested for row in archived if Action(row.action).writes_data), default="")
    done = (file.instant for file in files if file.instant.is_completed and file.instant.action in NEVER_BY_HUDI)
    return frozenset((one.requested, one.action) for one in done if one.requested < last)


def rows_of_leaving(
    table: LockedTable, files: Iterable[StateFile], leave: frozenset[tuple[str, Action]], times: Mapping[tuple[str, Action], str]
) -> tuple[ArchivedRow, ...]:
    """Return the rows of the archive of layout 2 for the restores among those that leave.

    Raises:
        CorruptTableError: the file of a restore is damaged.
    """
    return tuple(
        row_of_restore(table.storage, table.config, file.instant, times[file.instant.requested, Action.RESTORE])
        for file in files
        if file.instant.is_completed and file.instant.action is Action.RESTORE and (file.instant.requested, Action.RESTORE) in leave
    )
