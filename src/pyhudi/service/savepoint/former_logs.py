"""Whether a table can still have the log files of an earlier state, or has become copy-on-write or was downgraded since.

Rules: docs/format/log-files.md#log-file-names.
"""

from __future__ import annotations

from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.instant import Action, Instant
from pyhudi.txn.locked_table import LockedTable


def check_logs(table: LockedTable, instant: Instant, view: FileSystemView, refused: str) -> None:
    """Refuse to go back to a state with log files that the table cannot have any more: its next write would undo what is in them.

    Writes of a table that has become copy-on-write read base files alone. Version 6 names log files for the base file, later ones for their
    commit: after a downgrade, a new log file would come before those that are there already.

    Args:
        table: the table.
        instant: the completed write that the table goes back to.
        view: as `cleaned_files.view_at` returned it.
        refused: what cannot be done, as the error begins.

    Raises:
        UsageError: there is such a log file; says how to go back nevertheless.
    """
    config = table.config
    had_logs = instant.action is not Action.COMMIT or any(one.action is Action.DELTA_COMMIT for one in table.timeline.instants)
    if not had_logs or (config.is_merge_on_read and config.layout != 1):
        return
    slices = (one for path in view.partition_paths() for one in view.latest_slices(path))
    logs = ((file_slice, log) for file_slice in slices for log in file_slice.logs)
    for file_slice, log in logs:
        where = f"'{log.path}' is a log file of commit {instant.requested}"
        if not config.is_merge_on_read:
            raise UsageError(
                f"{refused}: the table has become copy-on-write since, and {where}. Make the table merge-on-read first:"
                " table.services.change_type('MERGE_ON_READ')"
            )
        if log.name.instant != file_slice.base_instant:
            raise UsageError(
                f"{refused}: the table was downgraded to version {config.version} since, and {where}, with a name of later versions."
                " Upgrade the table first: table.services.upgrade()"
            )
