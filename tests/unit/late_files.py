"""A defect for tests: nobody deletes what a writer wrote after it was rolled back, so that other defects of rollbacks show."""

from __future__ import annotations

import importlib

import pytest

from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_markers

_MODULES = ("pyhudi.service.rollback.execute_rollback", "pyhudi.service.rollback.failed_writes")


def late_files_stay(patch: pytest.MonkeyPatch) -> None:
    """Have rollbacks and writers delete the markers of an instant that was rolled back, and not the files that they name."""

    def delete_markers_alone(table: LockedTable, requested: str, deleted: object = ()) -> None:
        del deleted
        delete_markers(table.storage, requested)

    for name in _MODULES:
        patch.setattr(importlib.import_module(name), "delete_markers_and_late_files", delete_markers_alone)
