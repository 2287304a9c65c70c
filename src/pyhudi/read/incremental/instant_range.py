"""A span of a table's life: which commits belong to it, and how the table was at its end.

Rules: `IncrementalQueryAnalyzer`, `IncrementalRelationV1/V2`, `TimelineUtils.handleHollowCommitIfNeeded`. The span is open at its begin and
closed at its end, in completion times; in version 6, which keeps none, in requested times. There, and where the user asks for requested
times, it ends before the first write that is still pending: a later commit with an older time would be passed over for ever. A pending
compaction, log compaction or clustering is no such write: it changes no row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from pyhudi.cache import cached_property
from pyhudi.errors import CorruptTableError, UnsupportedError, UsageError
from pyhudi.metadata_table.read.lost_completion import check_pending_writes
from pyhudi.read.snapshot.cleaned_states import check_not_cleaned
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.clock import parse_time
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline.timeline_files import timeline_files
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

#: `earliest`, or zeros as scripts write them: `0`, `000`, `00000000000000`.
_BEGINNING: Final = re.compile(r"earliest|0+", re.IGNORECASE)
#: The option by which a span may begin among archived commits, as error strings name it.
FULL_SCAN: Final = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
HOLES: Final = "hoodie.read.timeline.holes.resolution.policy"


class HolesPolicy(Enum):
    """What a span of requested times does where a write is still pending among completed ones (`HollowCommitHandling`)."""

    FAIL = "FAIL"
    #: It ends before the pending write.
    BLOCK = "BLOCK"
    #: Commits are ordered by completion time.
    USE_TRANSITION_TIME = "USE_TRANSITION_TIME"


@dataclass(frozen=True)
class InstantRange:
    """`since` is the begin, `""` for the beginning of all; `end` the timeline at the end, `latest` that of now.

    `instants` are the active commits of the span, in the order in which they took effect. `by_requested` says that begin and end are
    requested times.
    """

    storage: Storage
    config: TableConfig
    since: str
    until: str | None
    end: Timeline
    latest: Timeline
    by_requested: bool
    #: Names of the files of the timeline when it was read.
    listed: frozenset[str]

    @property
    def instants(self) -> tuple[Instant, ...]:
        """The active commits of the span."""
        return tuple(sorted((one for one in self.end.data_instants() if self.time_of(one) > self.since), key=self.time_of))

    @property
    def older(self) -> frozenset[str]:
        """Requested times of the active commits before the span."""
        return frozenset(one.requested for one in self.end.data_instants() if self.time_of(one) <= self.since)

    @property
    def earliest_time(self) -> str:
        """The earliest begin after which no commit is archived; `""` when none is."""
        return max((self._archived_time(*times) for times in self._archived), default="")

    def time_of(self, instant: Instant) -> str:
        """Return the time by which a commit belongs to the span or not."""
        if self.by_requested:
            return instant.requested
        return self.end.completion_time(instant.requested) or instant.requested

    def archived_before(self) -> list[str] | None:
        """Return the commits that were done before the span, archived and active; None when none of the span's own is archived.

        Raises:
            UnsupportedError: version 6 does not tell which were.
        """
        if not self._may_begin_archived:
            return None
        if self.end.layout == 1:
            if self.end.archive_boundary is None or self.since >= self.end.archive_boundary:
                return None
            raise UnsupportedError(
                f"changes of table {self.storage.uri} since {self.since}: commits of that time are archived, and version 6 does not tell"
                f" which; begin at {self.end.archive_boundary} or later, or at 'earliest'."
            )
        if self.since >= self.earliest_time:
            return None
        return [*self.older, *(times[0] for times in self._archived if self._archived_time(*times) <= self.since)]

    @property
    def begins_archived(self) -> bool:
        """True when commits of the span are archived."""
        return self._may_begin_archived and self.since < self.earliest_time

    @property
    def _may_begin_archived(self) -> bool:
        """False where an active commit precedes the span and no archived one completed later: names in the archive need no look."""
        return not self.older or (not self.by_requested and self.latest.has_archived_after(self.since))

    def refusal(self, way_out: str) -> UsageError:
        """Return the error of a span that begins among archived commits."""
        return UsageError(
            f"changes of table {self.storage.uri} since {self.since or 'the beginning'}: commits after that time are archived; the earliest"
            f" safe time is {self.earliest_time}. Begin there{way_out}."
        )

    def _archived_time(self, requested: str, completed: str) -> str:
        return requested if self.by_requested else completed

    @cached_property
    def _archived(self) -> list[tuple[str, str]]:
        """Requested and completion times of the archived commits."""
        archived = archived_instants(self.storage, self.config, read_rows)
        active = {one.requested for one in self.latest.data_instants()}
        return [
            (one.instant.requested, one.instant.completed or one.instant.requested)
            for one in archived
            if one.instant.action.writes_data and one.instant.requested not in active
        ]


def instant_range_of(
    storage: Storage,
    config: TableConfig,
    since: str | datetime | None,
    until: str | datetime | None,
    *,
    by_requested: bool | None = None,
    archived: bool = False,
    holes: HolesPolicy = HolesPolicy.BLOCK,
    names_commits: bool = False,
) -> InstantRange:
    """Return the commits after `since` (None: from the beginning) up to and including `until` (None: now).

    `by_requested` tells whether these are requested times or completion times; None leaves that to the table's version.
    `holes` says what a write that is still pending does to a span of requested times.
    `names_commits` lets a bound that is the instant of a commit mean that commit, whose completion time is later.
    `archived` takes archived commits for active ones, as far as the archive goes back; a span that ends among them does so in any case.

    Raises:
        OptionError: a bound is no time.
        UsageError: the files of the end were cleaned away, or a write is pending among the commits of the span and `holes` is `FAIL`.
        UnsupportedError: `holes` or `by_requested` asks for completion times, which the table does not keep.
        CorruptTableError: the file of a completed write is missing on the timeline.
    """
    files = timeline_files(storage, config)
    latest = load_full_timeline(storage, config, files=files)
    check_pending_writes(storage, config, latest)
    if holes is HolesPolicy.USE_TRANSITION_TIME and latest.layout == 1:
        raise UnsupportedError(
            f"{HOLES}=USE_TRANSITION_TIME: table {storage.uri} is of version {config.version}, which keeps no completion times; take BLOCK,"
            " or upgrade the table to version 8 or 9."
        )
    if by_requested is False and latest.layout == 1:
        raise UnsupportedError(
            f"table {storage.uri} is of version {config.version}, which keeps no completion times: an option says that begin and end are"
            " such times, as those of version 8 and 9 are. Leave it out, or upgrade the table."
        )
    by_requested = latest.layout == 1 or (by_requested is True and holes is not HolesPolicy.USE_TRANSITION_TIME)
    begin = _begin(since, config)
    end_time = None if until is None else parse_time(until, config.timeline_zone)
    if names_commits and not by_requested:
        begin = begin and latest.effective_time(begin)
        end_time = end_time and latest.effective_time(end_time)
    if archived or (by_requested and _precedes(latest, end_time)):
        latest = latest.with_archived()
    elif end_time is not None and not by_requested:
        latest = latest.known_at(end_time)
    end = _end_by_requested(storage, config, latest, end_time, holes) if by_requested else _end(latest, end_time)
    last = end.last_completed()
    if end_time is not None and last != latest.last_completed():
        check_not_cleaned(storage, config, latest, last.requested if by_requested and last is not None else end_time)
    return InstantRange(storage, config, begin, end_time, end, latest, by_requested, frozenset(files))


def _precedes(timeline: Timeline, time: str | None) -> bool:
    """Tell whether no active commit had been requested at a time."""
    return time is not None and all(one.requested > time for one in timeline.data_instants())


def commit_times(
    storage: Storage, since: str = "", *, by_requested: bool | None = None, holes: HolesPolicy = HolesPolicy.BLOCK
) -> list[str]:
    """Return the times after `since` of the active commits that a span without end holds, the oldest first."""
    instant_range = instant_range_of(storage, TableConfig(load_properties(storage)), None, None, by_requested=by_requested, holes=holes)
    return sorted(time for time in map(instant_range.time_of, instant_range.end.data_instants()) if time > since)


def _begin(time: str | datetime | None, config: TableConfig) -> str:
    if time is None or (isinstance(time, str) and _BEGINNING.fullmatch(time.strip())):
        return ""
    return parse_time(time, config.timeline_zone)


def _end(timeline: Timeline, until: str | None) -> Timeline:
    """Return the timeline as of the span's end."""
    return timeline if until is None else timeline.completed_by(until)


def _end_by_requested(storage: Storage, config: TableConfig, timeline: Timeline, until: str | None, holes: HolesPolicy) -> Timeline:
    """Return the timeline as of the span's end, a requested time, which no write that is still pending precedes.

    Raises:
        UsageError: such a write precedes commits of the span, and `holes` is `FAIL`.
    """
    pending = next((one.requested for one in timeline.pending() if _is_pending_write(storage, config, one)), None)
    if pending is not None and holes is HolesPolicy.FAIL:
        _check_no_hole(storage, timeline, pending, until)
    done = [instant.requested for instant in timeline.data_instants() if pending is None or instant.requested < pending]
    # Before the first active commit all is archived, and thus done.
    return timeline.requested_by(max((time for time in done if until is None or time <= until), default=until or ""))


def _check_no_hole(storage: Storage, timeline: Timeline, pending: str, until: str | None) -> None:
    later = [one.requested for one in timeline.data_instants() if one.requested > pending and (until is None or one.requested <= until)]
    if later:
        raise UsageError(
            f"changes of table {storage.uri}: the write {pending} is pending, and commit {later[0]} after it is completed. A reader that"
            f" passes over the write misses its rows for ever. Wait for it, or read up to it: {HOLES}=BLOCK."
        )


def _is_pending_write(storage: Storage, config: TableConfig, instant: Instant) -> bool:
    """Tell whether a pending instant is going to change rows.

    Version 6 files clusterings under the action of writes that replace files: their plan tells them apart.
    """
    if not instant.action.writes_data:
        return False
    try:
        return pending_clustering(storage, config, instant) is None
    except CorruptTableError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return True  # it was completed or rolled back since the timeline was listed
        raise
