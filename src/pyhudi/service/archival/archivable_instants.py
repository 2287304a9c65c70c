"""Which instants may leave an active timeline: pure rules, in requested times.

Rules: `TimelineArchiverV1`, `TimelineArchiverV2.getCommitInstantsToArchive`, `CompactionUtils.getEarliestInstantToRetainForCompaction`,
`ClusteringUtils.getEarliestInstantToRetainForClustering`. Archived are the oldest completed commits, and the cleans and
rollbacks among them; each rule names the first commit that must stay. Where Apache Hudi looks at pending writes only, all
pending actions count here. It never archives restores and index builds: see `go_along`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.service.archival.archival_settings import ArchivalSettings
from pyhudi.service.archival.archived_restores import NEVER_BY_HUDI, hides_archived
from pyhudi.spec.instant import Action, Instant
from pyhudi.timeline.timeline import Timeline

_NOT_BEYOND = "; hoodie.archive.beyond.savepoint is for copy-on-write tables and those of version 6"
_GO_ALONG = frozenset({Action.CLEAN, Action.ROLLBACK})
_REPLACE = frozenset({Action.REPLACE_COMMIT, Action.CLUSTERING})


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What the last clean says: from which instant on files stay, and which commits were savepointed then."""

    requested: str
    retained_from: str | None = None
    savepointed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stay:
    """A requested time from which on commits stay, and why."""

    time: str
    reason: str


@dataclass(frozen=True, slots=True)
class ArchivalInputs:
    """What else must be known of a table.

    `cleaned` is the last clean, `bounds` are further times from which on commits stay.
    """

    timeline: Timeline
    is_merge_on_read: bool
    cleaned: Cleaned | None = None
    bounds: tuple[Stay, ...] = ()

    @property
    def go_along(self) -> frozenset[Action]:
        """The actions that are archived with the commits after them."""
        return _GO_ALONG | (NEVER_BY_HUDI if self._hides_archived else frozenset())

    def goes_beyond_savepoints(self, settings: ArchivalSettings) -> bool:
        """Tell whether commits after a savepointed one are archived: not where it would then be the first active instant and hide them."""
        return settings.beyond_savepoints and not self._hides_archived

    @property
    def _hides_archived(self) -> bool:
        return hides_archived(self.timeline.layout, is_merge_on_read=self.is_merge_on_read)


def choose(inputs: ArchivalInputs, settings: ArchivalSettings) -> tuple[tuple[Instant, ...], str]:
    """Return the instants to archive, by requested time, and what keeps the next commit; `""` when there are few enough."""
    commits = inputs.timeline.data_instants()
    if len(commits) <= settings.most:
        return (), ""
    bound = min(_stays(inputs, settings), key=lambda stay: stay.time, default=None)
    saved = {one.requested for one in inputs.timeline.completed() if one.action is Action.SAVEPOINT}
    free = [one for one in commits if (bound is None or one.requested < bound.time) and one.requested not in saved]
    chosen = free[: len(commits) - settings.fewest]
    retained = "" if bound is None or len(chosen) == len(commits) - settings.fewest else bound.reason
    if not chosen:
        return (), retained
    along = [one for one in inputs.timeline.completed() if one.action in inputs.go_along and one.requested < chosen[-1].requested]
    return tuple(sorted((*chosen, *along), key=lambda one: one.requested)), retained


def _stays(inputs: ArchivalInputs, settings: ArchivalSettings) -> Iterator[Stay]:
    timeline = inputs.timeline
    commits = timeline.data_instants()
    yield from inputs.bounds
    if (last := _greatest(inputs)) is not None:
        yield Stay(last.requested, f"{last.action} {last.requested} completed last, and later times continue from there")
    pending = next(iter(timeline.pending()), None)
    if pending is not None:
        # The commit before it stays as well: what was pending may be rolled back, and then it is the last one before.
        before = [one.requested for one in commits if one.requested < pending.requested]
        yield Stay(before[-1] if before else pending.requested, f"{pending.action} {pending.requested} is pending")
    if inputs.is_merge_on_read and settings.compaction_deltas and (counted := _for_compaction(timeline, settings.compaction_deltas)):
        yield Stay(counted, "the trigger of compaction counts delta commits from there on")
    if (replaced := _for_replaced_files(inputs)) is not None:
        yield Stay(replaced.requested, f"the files that {replaced.action} {replaced.requested} replaced are not cleaned yet")
    if settings.behind_cleaning and inputs.cleaned is not None and inputs.cleaned.retained_from:
        yield Stay(inputs.cleaned.retained_from, f"clean {inputs.cleaned.requested} kept its files")
    saved = next((one for one in timeline.completed() if one.action is Action.SAVEPOINT), None)
    if saved is not None and not inputs.goes_beyond_savepoints(settings):
        yield Stay(saved.requested, f"{saved.requested} is savepointed{_NOT_BEYOND if settings.beyond_savepoints else ''}")


def _greatest(inputs: ArchivalInputs) -> Instant | None:
    """Return the instant that has the greatest time of the timeline, if it could be archived: a slow one that was requested early.

    A writer whose clock is behind takes its times from those of the active timeline, and none may come before what is completed.
    """
    last = max(inputs.timeline.completed(), key=lambda one: one.completed or one.requested, default=None)
    return last if last is not None and (last.action.writes_data or last.action in inputs.go_along) else None


def _for_compaction(timeline: Timeline, counted: int) -> str | None:
    """Return the last compaction, or the delta commits since that make the next one due, when there are enough."""
    compacted = [one for one in timeline.completed() if one.action is Action.COMMIT]
    deltas = [one for one in timeline.instants if one.action is Action.DELTA_COMMIT]
    first = next((one.requested for one in (*reversed(compacted), *deltas)), None)
    if compacted and first is not None:
        deltas = [one for one in deltas if not one.is_completed or timeline.effect(one)[0] > first]
    return first if len(deltas) < counted else deltas[-counted].requested


def _for_replaced_files(inputs: ArchivalInputs) -> Instant | None:
    """Return the first replacecommit whose replaced files may still be there: without it a reader would show their rows again.

    A clean leaves the files that were replaced after the state that it retains (`obsolete_files.Retention`). Apache Hudi goes by requested
    times, and archives a clustering that began before the retained commit and completed after it.
    """
    timeline, cleaned = inputs.timeline, inputs.cleaned
    replacing = [one for one in timeline.instants if one.action in _REPLACE]
    if cleaned is None:
        return next(iter(replacing), None)
    lower = cleaned.retained_from or cleaned.requested
    was_cleaned_at = timeline.effective_time(cleaned.retained_from) if cleaned.retained_from else cleaned.requested
    savepointed_from = min(cleaned.savepointed, default=None)
    if savepointed_from is not None and savepointed_from < lower and any(savepointed_from <= one.requested <= lower for one in replacing):
        lower = savepointed_from
    return next((one for one in replacing if one.requested >= lower or timeline.effect(one)[0] > was_cleaned_at), None)
