"""A snapshot whose files were cleaned before it asked the metadata table for them.

A process may be suspended for minutes between the reading of the timeline and that of the metadata table. Files that the snapshot needs
were perhaps deleted meanwhile, and newer ones are not visible to it: it would return no rows of those file groups. Where the metadata
table still lists deleted files, opening them fails. Apache Hudi has the first case, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from pyhudi.errors import ConflictError, CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.locks.known_objects import as_it_is_now
from pyhudi.metadata_table.read.metadata_view import MetadataView
from pyhudi.metadata_table.read.valid_instants import unknown_instants
from pyhudi.spec.instant import Action
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline

P = ParamSpec("P")
T = TypeVar("T")

#: How often a read begins again; each time the process must have been suspended for the time of several commits and a clean.
_MOST_READS: Final = 4


class SnapshotExpiredError(ConflictError):
    """Files of a snapshot were cleaned before it was read; it has to be opened again."""


def check_not_expired(view: FileSystemView, latest: Timeline) -> None:
    """Check that the metadata table of a view knows of no clean that the table's timeline, read before it, lacks.

    What a clean has recorded that is pending on that timeline is not shown: the files that it deletes stay listed. Nothing is
    read unless the metadata table is ahead of that timeline.

    Raises:
        SnapshotExpiredError: names the clean.
    """
    table = view.table if isinstance(view, MetadataView) else None
    ahead = () if table is None else unknown_instants(table.timeline, latest)
    unknown = [time for time in ahead if not latest.find(time)]
    if not unknown:
        return
    now = load_timeline(as_it_is_now(view.storage), view.config)
    cleans = [one.requested for time in unknown for one in now.find(time) if one.action is Action.CLEAN]
    if cleans:
        raise SnapshotExpiredError(
            f"clean {cleans[0]} of table {view.storage.uri} ran while a query began, and may have deleted files that it needs; read again."
        )


def reread_when_expired(read: Callable[P, T]) -> Callable[P, T]:
    """Let a function that reads a table begin again when the table is cleaned meanwhile; a file that is missing twice is damage."""

    @functools.wraps(read)
    def reread(*args: P.args, **kwargs: P.kwargs) -> T:
        missing = ""
        for _ in range(_MOST_READS - 1):
            try:
                return read(*args, **kwargs)
            except SnapshotExpiredError:
                continue
            except CorruptTableError as error:
                if not isinstance(error.__cause__, FileNotFoundError) or str(error) == missing:
                    raise
                missing = str(error)
        return read(*args, **kwargs)

    return reread
