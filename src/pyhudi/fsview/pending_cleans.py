"""Files that a pending clean is to delete.

Rules: `CleanActionExecutor`: the files of a clean are deleted outside the table's lock, and recorded in the metadata table when all of them
are deleted. Whoever builds the metadata table meanwhile cannot tell which of them are still there a moment later.
"""

from __future__ import annotations

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.actions.clean import CleanPlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.instant_details import read_action


def files_being_cleaned(view: FileSystemView) -> dict[str, frozenset[str]]:
    """Return the names of the files that pending cleans are to delete, by partition path; without those of the newest file slices.

    A plan that names files of the newest slices is older than a restore that brought them back, and is not carried out.

    Args:
        view: the table's files by listing.
    """
    planned: dict[str, set[str]] = {}
    for instant in view.timeline.pending(Action.CLEAN):
        for path, files in _files_of_plan(view, instant):
            planned.setdefault(path, set()).update(file.rpartition("/")[2] for file in files)
    return {path: frozenset(names - _newest(view, path)) for path, names in planned.items()}


def _files_of_plan(view: FileSystemView, instant: Instant) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what the plan names by partition path; nothing for a plan that is unreadable, since such a clean deletes nothing."""
    try:
        plan = read_action(view.storage, view.config, Instant(instant.requested, Action.CLEAN, State.REQUESTED))
    except (CorruptTableError, FileNotFoundError):
        return ()
    return tuple(plan.files.items()) if isinstance(plan, CleanPlan) else ()


def _newest(view: FileSystemView, path: str) -> frozenset[str]:
    slices = view.latest_slices(path)
    bases = {str(one.base.name) for one in slices if one.base is not None}
    return frozenset(bases | {str(log.name) for one in slices for log in one.logs})
