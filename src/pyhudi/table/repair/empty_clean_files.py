"""Files of cleans without content, which a writer left that died. Rules: `RepairCorruptedCleanFilesProcedure`."""

from __future__ import annotations

from pyhudi.service.cleaning.cleaning_service import empty_clean_files, without_empty_cleans
from pyhudi.table.repair.repair_result import CleanFilesRepair
from pyhudi.txn.locked_table import LockedTable


def remove_empty_clean_files(table: LockedTable, *, dry_run: bool) -> CleanFilesRepair:
    """Remove the files; see `RepairServices.repair_clean_files`."""
    files = tuple(path for _, path in empty_clean_files(table))
    if not files:
        return CleanFilesRepair("nothing to do", ())
    if not dry_run:
        without_empty_cleans(table)
    return CleanFilesRepair("planned" if dry_run else "completed", files)
