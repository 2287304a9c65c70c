"""Defects put in on purpose, each of which the harness must notice: a check that never failed is not trusted."""

from __future__ import annotations

import importlib

import pytest

import pyhudi.kernels.tasks.write_task as write_task
import pyhudi.service.rollback.execute_rollback as execute
import pyhudi.txn.commit_sequence as commit_sequence
from pyhudi.errors import HudiError
from pyhudi.spec.visibility import Visibility
from pyhudi.timeline.write_instant import TimelineWriter
from tests.unit.crash.tables import SHARE, stored_table
from tests.unit.crash.test_cut_writes import run_all_cuts
from tests.unit.late_files import late_files_stay

#: The module; its package shows the function of that name.
failed_writes = importlib.import_module("pyhudi.service.rollback.failed_writes")


def visible_before_completion(monkeypatch) -> None:
    """Files of pending writes are shown to readers."""
    monkeypatch.setattr(Visibility, "is_visible", lambda self, requested: True)


def lost_answer_is_taken_for_failure(monkeypatch) -> None:
    """A completed file whose create gave an error counts as not written."""

    def give_up(self, target, content, error):
        raise error

    monkeypatch.setattr(TimelineWriter, "_resolve", give_up)


def failed_writes_are_left_alone(monkeypatch) -> None:
    """The next writer does not roll back."""
    monkeypatch.setattr(failed_writes, "failed_writes", lambda timeline: ())


def rollback_deletes_no_files(monkeypatch) -> None:
    """The rollback completes although the failed write's files are still there."""
    monkeypatch.setattr(execute, "planned_files", lambda plan: {})
    late_files_stay(monkeypatch)


def markers_stay(monkeypatch) -> None:
    """Nobody deletes the markers of a finished write."""
    monkeypatch.setattr(commit_sequence, "delete_marker_directory", lambda storage, instant: None)
    monkeypatch.setattr(failed_writes, "delete_markers", lambda storage, instant: None)


def partitions_without_metafile(monkeypatch) -> None:
    """New partitions are not marked as such."""
    monkeypatch.setattr(write_task, "ensure_partition", lambda storage, path, instant: None)


DEFECTS = [
    visible_before_completion,
    lost_answer_is_taken_for_failure,
    failed_writes_are_left_alone,
    rollback_deletes_no_files,
    markers_stay,
    partitions_without_metafile,
]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_defect_is_noticed(defect, monkeypatch) -> None:
    storage, before = stored_table()
    defect(monkeypatch)
    with pytest.raises((AssertionError, HudiError)):
        run_all_cuts(storage, before, "insert into a new and an old partition", SHARE)
