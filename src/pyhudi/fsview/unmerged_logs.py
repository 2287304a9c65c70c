"""Log files on the newest slices of a copy-on-write table, which a restore or a change of the table's type by another engine can leave.

Rules: `HoodieTableType`, `BaseRollbackActionExecutor`. Readers merge them. Writes of copy-on-write tables read base files alone, and would
undo what is in them.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.errors import UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView


def check_merged(view: FileSystemView, paths: Iterable[str], refused: str) -> None:
    """Refuse a change of a copy-on-write table of which rows are in log files.

    Args:
        view: the files of the table, which is copy-on-write.
        paths: the partitions that are changed.
        refused: what cannot be done, as the error begins.

    Raises:
        UnsupportedError: a slice has a log file; says how to merge it.
    """
    logs = (log for path in paths for file_slice in view.slice_list(path).made for log in file_slice.logs)
    if (log := next(logs, None)) is not None:
        raise UnsupportedError(
            f"{refused}: table {view.storage.uri} is copy-on-write, and rows of it are in log file '{log.path}'. Merge the log files into"
            " base files: table.services.change_type('MERGE_ON_READ'), then table.services.change_type('COPY_ON_WRITE')"
        )
