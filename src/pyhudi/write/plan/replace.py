"""Which file groups an overwrite or a partition delete replaces."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyhudi.errors import KeyFieldError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files import partition_path


def replaced_groups(
    view: FileSystemView, operation: Operation, written: Collection[str], partitions: Sequence[str] | None
) -> dict[str, tuple[str, ...]] | None:
    """Return the file ids that an operation replaces, by partition path; None for operations that replace nothing.

    Args:
        view: the table's files.
        operation: the operation.
        written: partition paths of the new rows.
        partitions: the partition paths that the caller names; None leaves it to the rows.

    Raises:
        KeyFieldError: a named path leads out of the table, or rows lie outside the named partitions.
    """
    if not operation.replaces:
        return None
    for path in partitions or ():
        partition_path.check(path)
    if operation is Operation.INSERT_OVERWRITE_TABLE:
        return {path: _group_ids(view, path) for path in view.partition_paths()}
    if partitions is None:
        return {path: _group_ids(view, path) for path in sorted(written)}
    unknown = sorted(set(written).difference(partitions))
    if unknown:
        raise KeyFieldError(f"Rows lie in partition '{unknown[0]}', which is not among those to overwrite: {', '.join(partitions)}.")
    return {path: _group_ids(view, path) for path in dict.fromkeys(partitions)}


def _group_ids(view: FileSystemView, path: str) -> tuple[str, ...]:
    return tuple(group.id.file_id for group in view.groups(path))
