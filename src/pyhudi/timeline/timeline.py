"""The timeline of a table at one timestamp, as a value: what was done, what is under way, and what is visible.

Rules: Hudi technical specification, "Timeline" and "File slicing"; `BaseHoodieTimeline`, `CompletionTimeQueryView`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Final

from pyhudi.spec.instant import COMPLETED_ACTION, DATA_ACTIONS, Action, Instant, State
from pyhudi.spec.visibility import Visibility
from pyhudi.timeline.archived_timeline import History

_END_OF_TIME: Final = "9" * 17


@dataclass(frozen=True, slots=True)
class Timeline:
    """Instants sorted by requested time, one for each action at the highest state it reached.

    `completion` gives completion times by requested time for instants whose name does not tell them: those of layout
    1 and, read when asked for, archived ones. `archive_boundary` is the time below which everything counts as archived: by
    default that of the first write that is still active, `""` when nothing was ever archived. `until` is the time
    that an `as_of` view ends at. `archive` tells about archived instants, where the timeline was read to know them.
    `log_compactions` are the requested times of log compactions, pending or not: completed they are delta commits.
    `services` are those of compactions and clusterings, which write no rows of their own.
    `repeated` are completions of actions that had been completed before, with the same content.
    `hidden` are the requested times of actions that a view of an earlier time leaves out: they do not count as archived.
    `restoring` are the actions that a pending restore rolls back. They are none of `instants` any more: from the moment when it begins to
    delete files, a restore shows the table as it will be.
    """

    instants: tuple[Instant, ...]
    layout: int
    # Not compared: only a read of the whole archive would tell.
    completion: Mapping[str, str] = field(default_factory=dict, compare=False)
    archive_boundary: str | None = None
    until: str | None = None
    archive: History | None = field(default=None, repr=False, compare=False)
    log_compactions: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    repeated: tuple[Instant, ...] = ()
    restoring: tuple[Instant, ...] = ()
    visibility: Visibility = field(init=False, repr=False, compare=False)
    # Asked for many times in each write, and as long as the timeline.
    _data: tuple[Instant, ...] = field(init=False, repr=False, compare=False)
    _pending: tuple[Instant, ...] = field(init=False, repr=False, compare=False)
    _by_time: Mapping[str, tuple[Instant, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out what every file of a listing will be asked for."""
        if self.archive_boundary is None:
            object.__setattr__(self, "archive_boundary", _first_write(self.instants))
        completed = State.COMPLETED
        data = tuple([one for one in self.instants if one.state is completed and one.action in DATA_ACTIONS])
        begun = tuple([one for one in self.instants if one.state is not completed])
        committed = frozenset([instant.requested for instant in data])
        pending = self.hidden.union([instant.requested for instant in begun]) - committed
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_pending", begun)
        object.__setattr__(self, "visibility", Visibility(committed, self.archive_boundary, self.until, pending))
        object.__setattr__(self, "_by_time", _group_by_time(self.instants))

    def completed(self, *actions: Action) -> tuple[Instant, ...]:
        """Return the instants that are done, those of some actions where any are named."""
        done = State.COMPLETED
        return tuple([one for one in self.instants if one.state is done and (not actions or one.action in actions)])

    def pending(self, *actions: Action) -> tuple[Instant, ...]:
        """Return the instants that were begun and not completed, those of some actions where any are named."""
        return tuple([one for one in self._pending if one.action in actions]) if actions else self._pending

    def data_instants(self) -> tuple[Instant, ...]:
        """Return the completed commits, deltacommits and replacecommits."""
        return self._data

    def last_completed(self) -> Instant | None:
        """Return the completed data instant with the greatest requested time, or None on an empty table."""
        return self._data[-1] if self._data else None

    def find(self, requested: str) -> tuple[Instant, ...]:
        """Return the instants of a requested time: usually one, two for a commit that was savepointed."""
        return self._by_time.get(requested, ())

    def completion_time(self, requested: str) -> str | None:
        """Return when the data instant of that requested time completed; None while it is pending or when it is unknown.

        Archived instants are looked up in the history, which is read at the first such question.
        """
        for instant in self.find(requested):
            if instant.action is not Action.SAVEPOINT:
                return (instant.completed or self.completion.get(requested)) if instant.is_completed else None
        return self.completion.get(requested)

    def completed_at_or_after(self, first: str, last: str, bound: str) -> bool:
        """Tell whether an instant requested from `first` to `last` may have been completed at `bound` or later.

        False is sure; archived instants are answered for file by file.
        """
        for one in self.instants:
            if first <= one.requested <= last and one.is_completed and (self.completion_time(one.requested) or "") >= bound:
                return True
        if self.archive is not None:
            return self.archive.latest_completion(first, last) >= bound
        return any(first <= requested <= last and time >= bound for requested, time in self.completion.items())

    def is_committed(self, requested: str) -> bool:
        """Tell whether files of that requested time are visible: its instant is completed, or older than all active
        writes.
        """
        return self.visibility.is_visible(requested)

    def greatest_time(self) -> str:
        """Return the greatest requested or completed time of all instants, `""` when there is none."""
        every = (*self.instants, *self.restoring)
        return max([time for instant in every for time in (instant.requested, instant.completed or "")], default="")

    def as_of(self, time: str) -> Timeline:
        """Return the timeline as it was at an instant time: the actions that were completed at or before it.

        The requested time of a write, by which its rows name it, stands for the time when it completed. Layout 1, which keeps no
        completion times, goes by requested times.
        """
        return self.requested_by(time) if self.layout == 1 else self.completed_by(self.effective_time(time))

    def requested_by(self, time: str) -> Timeline:
        """Return the timeline of the completed actions requested at or before an instant time."""
        retained = self._where(lambda instant: instant.is_completed and instant.requested <= time)
        return replace(retained, until=time)

    def completed_by(self, time: str) -> Timeline:
        """Return the timeline of the actions that were completed at or before an instant time.

        The greatest requested time among them ends the view: nothing that was begun later is archived yet.
        """
        retained = self._where(
            lambda one: one.is_completed and (one.completed or self.completion.get(one.requested, one.requested)) <= time
        )
        return replace(retained, until=max((instant.requested for instant in retained.instants), default=time))

    def effective_time(self, time: str) -> str:
        """Return the completion time of the write requested at a time, the time itself when there is none."""
        return time if self.layout == 1 or time in self.services else max(time, self.completion_time(time) or time)

    def with_instant(self, instant: Instant) -> Timeline:
        """Return the timeline with another instant, in place of the state that it has of the same action."""
        start, end = (bisect(self.instants, instant.requested, key=attrgetter("requested")) for bisect in (bisect_left, bisect_right))
        same_time = collapse_states((*self.instants[start:end], instant))
        return replace(self, instants=(*self.instants[:start], *same_time, *self.instants[end:]))

    def before(self, instant: Instant) -> Timeline:
        """Return the timeline of the actions that were completed before a completed one was; in layout 1 requested before it.

        What was archived belongs to it.
        """
        at = self.effect(instant)
        retained = self._where(lambda one: one.is_completed and self.effect(one) < at)
        return replace(retained, until=max((one.requested for one in retained.instants), default=self.archive_boundary or "0"))

    def through(self, instant: Instant) -> Timeline:
        """Return the timeline of the actions that were completed before a completed one, and that one."""
        at = self.effect(instant)
        retained = self._where(lambda one: one.is_completed and self.effect(one) <= at)
        return replace(retained, until=max(one.requested for one in retained.instants))

    def with_actions(self, *actions: Action) -> Timeline:
        """Return the timeline of these actions only; what counts as archived stays as it is."""
        return self._where(lambda instant: instant.action in actions)

    def without(self, requested: Collection[str]) -> Timeline:
        """Return the timeline as a pending restore shows it that rolls back the actions of these requested times."""
        removed = tuple(one for one in self.instants if one.requested in requested and one.comparable_action.writes_data)
        rest = self._where(lambda one: one not in removed)
        return replace(rest, restoring=removed, hidden=rest.hidden | frozenset(requested))

    def known_at(self, time: str) -> Timeline:
        """Return this timeline, with the archived instants when some of them were completed after an instant time."""
        if self.archive is None:
            return self
        first = min((instant.completed or instant.requested for instant in self.data_instants()), default="")
        return self.with_archived() if time < first or self.has_archived_after(time) else self

    def has_archived_after(self, time: str) -> bool:
        """Tell whether an archived action was completed after an instant time.

        Archival goes by requested times: a write that took long is archived before others that began later and were completed earlier.
        """
        return self.archive is not None and self.archive.latest_completion("", _END_OF_TIME) > time

    def with_archived(self) -> Timeline:
        """Return the timeline with the archived instants as if they were active still; their names are read."""
        if self.archive is None:
            return self
        instants = collapse_states((*self.instants, *self.archive.instants()))
        return replace(self, instants=instants, archive_boundary="" if self.archive.is_whole else None)

    def effect(self, instant: Instant) -> tuple[str, str]:
        """Return what completed writes are ordered by: the time at which one became visible, and its requested time."""
        if self.layout == 1:
            return instant.requested, instant.requested
        return self.completion_time(instant.requested) or instant.requested, instant.requested

    def _where(self, keep: Callable[[Instant], bool]) -> Timeline:
        retained = tuple(filter(keep, self.instants))
        left_out = {one.requested for one in self.instants} - {one.requested for one in retained if one.action is not Action.SAVEPOINT}
        return replace(self, instants=retained, hidden=self.hidden | left_out)


def _group_by_time(instants: Sequence[Instant]) -> Mapping[str, tuple[Instant, ...]]:
    by_time = {one.requested: (one,) for one in instants}
    if len(by_time) == len(instants):
        return by_time
    groups: dict[str, tuple[Instant, ...]] = {}
    for one in instants:
        groups[one.requested] = (*groups.get(one.requested, ()), one)
    return groups


def _first_write(instants: Sequence[Instant]) -> str | None:
    """Return the time of the first write (or compaction, or clustering) that is active, which bounds the archive.

    Writes are archived in their order, other actions when it suits: cleans, rollbacks and restores may be active still that are older than
    archived writes. So may writes with a savepoint.
    """
    savepoints = {instant.requested for instant in instants if instant.action is Action.SAVEPOINT}
    others = [instant.requested for instant in instants if instant.requested not in savepoints]
    writes = [instant.requested for instant in instants if instant.comparable_action.writes_data]
    return next((time for time in writes if time not in savepoints), max(writes, default=min(others, default=None)))


def collapse_states(instants: Iterable[Instant]) -> tuple[Instant, ...]:
    """Return the highest state of each instant, sorted by requested time.

    All states of an instant meet under its requested time and the action it has once completed.

    Example:
        >>> from pyhudi.spec.instant import State
        >>> requested = Instant("20260101000000000", Action.CLEAN, State.REQUESTED)
        >>> [i.state.name for i in collapse_states([requested, Instant("20260101000000000", Action.CLEAN, State.INFLIGHT)])]
        ['INFLIGHT']
    """
    highest: dict[tuple[str, Action], Instant] = {}
    completes_as = COMPLETED_ACTION.get
    for instant in instants:
        key = (instant.requested, completes_as(instant.action, instant.action))
        known = highest.get(key)
        if known is None or known.state < instant.state:
            highest[key] = instant
    return tuple(highest[key] for key in sorted(highest))
