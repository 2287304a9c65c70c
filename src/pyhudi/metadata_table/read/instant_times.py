"""Which times the metadata table gives its own actions: builds, compactions, log compactions, cleans and rollbacks.

Rules: `HoodieBackedTableMetadataWriter`, `HoodieBackedTableMetadataWriterTableVersionSix`; docs/format/metadata-table.md#initialization,
#services-of-the-metadata-table. From version 8 on they are fresh ones, and builds count from the year 0 on. Instants of version 6 do not
tell when they completed: there an own action has the time of the one it follows with three digits more, so that it comes before all that
are still to come. Readers of Apache Hudi take blocks of no other instants that their data table does not have.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.spec.instant import Action
from pyhudi.timeline.timeline import Timeline

#: Instants of builds begin so: from version 8 on, and in tables without commits.
_BUILT = "0" * 14
_INSTANT_DIGITS = 17
#: The time of the first build, that of the partition `files`, from version 8 on.
FIRST_BUILD: Final = "0" * _INSTANT_DIGITS
#: The first number behind the time of a commit, of builds in version 6.
_BUILDS_FROM = 10


class Service(enum.StrEnum):
    """The digits that stand for an own action in version 6."""

    COMPACTION = "001"
    CLEAN = "002"
    LOG_COMPACTION = "005"
    ROLLBACK = "006"


def is_metadata_only(requested: str) -> bool:
    """Tell whether an instant is one of the metadata table alone, which its data table does not have."""
    return requested.startswith(_BUILT) or len(requested) > _INSTANT_DIGITS


def is_built(requested: str) -> bool:
    """Tell whether an instant is that of a build before all commits."""
    return requested.startswith(_BUILT)


def build_time(mdt: MetadataWriterTable, data: Timeline) -> str:
    """Return the first time that no build has taken; one that was cut off keeps its own. `data` is the data table's timeline."""
    if mdt.config.layout > 1:
        return _first_unused(mdt, (str(number).zfill(_INSTANT_DIGITS) for number in count()))
    last = max((instant.requested for instant in data.completed()), default=_BUILT)
    return _first_unused(mdt, (f"{last}{number:03d}" for number in count(_BUILDS_FROM)))


def service_time(mdt: MetadataWriterTable, service: Service) -> str:
    """Return the time of a compaction or clean that begins now."""
    return mdt.next_time() if mdt.config.layout > 1 else _first_unused(mdt, _longer(last_delta_commit(mdt), service))


def delta_commits_since(mdt: MetadataWriterTable, time: str) -> int:
    """Return how many delta commits were completed after a time: log compactions, which tell nothing new, are none."""
    done = (instant for instant in mdt.timeline.completed() if instant.action is Action.DELTA_COMMIT)
    return sum((one.completed or one.requested) > time and one.requested not in mdt.timeline.log_compactions for one in done)


def rollback_time(mdt: MetadataWriterTable, failed: str, reason: str = "") -> str:
    """Return the time of the rollback of a delta commit: that of the data table's rollback, `reason`, if there is one.

    In version 6 it is one behind that, or behind the failed time; the one that is under way comes first.
    """
    if mdt.config.layout > 1:
        return reason or mdt.next_time()
    done = {instant.requested for instant in mdt.timeline.completed()}
    return next(time for time in _longer(reason or failed, Service.ROLLBACK) if time not in done)


def last_delta_commit(mdt: MetadataWriterTable) -> str:
    """Return the greatest requested time of its completed delta commits, `""` when there is none."""
    return max((instant.requested for instant in mdt.timeline.completed() if instant.action is Action.DELTA_COMMIT), default="")


def _longer(time: str, service: Service) -> Iterator[str]:
    while True:
        time += service
        yield time


def _first_unused(mdt: MetadataWriterTable, times: Iterable[str]) -> str:
    # An archived build keeps its time: its log files stand until they are cleaned.
    taken = {instant.requested for instant in mdt.timeline.with_archived().instants}
    return next(time for time in times if time not in taken)
