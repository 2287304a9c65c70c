"""Which instants may be archived: each rule on a small timeline."""

from __future__ import annotations

import pytest

from pyhudi.errors import OptionError
from pyhudi.service.archival.archivable_instants import ArchivalInputs, Cleaned, Stay, choose
from pyhudi.service.archival.archival_settings import ArchivalSettings, archival_settings
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.options import resolve
from pyhudi.timeline.timeline import Timeline, collapse_states


def at(number: int) -> str:
    return f"20261201{number:09}"


def done(number: int, action: Action = Action.COMMIT) -> Instant:
    return Instant(at(number), action, State.COMPLETED, at(number + 1))


def pending(number: int, action: Action) -> Instant:
    return Instant(at(number), action, State.REQUESTED)


def chosen(
    *others: Instant,
    commits: int = 6,
    layout: int = 2,
    merge_on_read: bool = False,
    cleaned: Cleaned | None = None,
    bounds: tuple[Stay, ...] = (),
    **settings: bool,
) -> tuple[list[int], str]:
    """Choose on a timeline of commits 10, 20, 30 ... with other instants among them."""
    timeline = Timeline(collapse_states((*(done(10 * number) for number in range(1, commits + 1)), *others)), layout)
    options = ArchivalSettings(fewest=2, most=4, **settings)  # type: ignore[arg-type]
    instants, why = choose(ArchivalInputs(timeline, is_merge_on_read=merge_on_read, cleaned=cleaned, bounds=bounds), options)
    return [int(instant.requested[-9:]) for instant in instants], why


def test_nothing_is_archived_before_there_are_more_commits_than_may_stay() -> None:
    assert chosen(commits=4) == ([], "")
    assert chosen(commits=5) == ([10, 20, 30], "")


def test_cleans_and_rollbacks_among_the_commits_go_along_and_other_actions_stay() -> None:
    assert chosen(done(5, Action.CLEAN), done(12, Action.ROLLBACK), done(15, Action.INDEXING), done(45, Action.CLEAN))[0] == [
        *(5, 10, 12, 20, 30, 40)
    ]


@pytest.mark.parametrize("action", [Action.RESTORE, Action.INDEXING])
def test_restores_and_index_builds_go_along_where_apache_hudi_would_take_later_archived_commits_for_pending(action: Action) -> None:
    others = (done(15, action), done(45, action))
    assert chosen(*others, merge_on_read=True)[0] == [10, 15, 20, 30, 40]
    assert chosen(*others, merge_on_read=True, layout=1)[0] == chosen(*others)[0] == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("action", "number", "expected"), [(Action.COMMIT, 35, [10, 20]), (Action.CLEAN, 15, []), (Action.INDEXING, 5, [])]
)
def test_the_commit_before_the_first_pending_action_stays(action: Action, number: int, expected: list[int]) -> None:
    instants, why = chosen(pending(number, action))
    assert instants == expected
    assert f"{action} {at(number)} is pending" in why


def test_archival_ends_before_the_first_savepoint_or_leaves_savepointed_commits_out() -> None:
    saved = done(20, Action.SAVEPOINT)
    assert chosen(saved)[0] == [10]
    assert chosen(saved, beyond_savepoints=True)[0] == [10, 30, 40, 50]
    assert chosen(saved, beyond_savepoints=True, merge_on_read=True, layout=1)[0] == [10, 30, 40, 50]


def test_a_savepoint_bounds_where_apache_hudi_would_take_later_archived_commits_for_pending() -> None:
    instants, why = chosen(done(20, Action.SAVEPOINT), beyond_savepoints=True, merge_on_read=True)
    assert instants == [10]
    assert "hoodie.archive.beyond.savepoint is for copy-on-write tables and those of version 6" in why


def test_a_replacecommit_stays_until_its_replaced_files_are_cleaned() -> None:
    replacing = (done(15, Action.REPLACE_COMMIT), done(25, Action.REPLACE_COMMIT))
    assert chosen(*replacing)[0] == [10]
    assert chosen(*replacing, cleaned=Cleaned(at(45), at(20)))[0] == [10, 15, 20]
    assert chosen(*replacing, cleaned=Cleaned(at(45)))[0] == [10, 15, 20, 25, 30, 40]


def test_a_clustering_that_completed_after_the_retained_commit_stays() -> None:
    """It began before that commit, so by requested times alone its files would count as cleaned."""
    late = Instant(at(25), Action.REPLACE_COMMIT, State.COMPLETED, at(33))
    assert chosen(late, commits=8, cleaned=Cleaned(at(85), at(30)))[0] == [10, 20]
    assert chosen(late, commits=8, cleaned=Cleaned(at(85), at(40)))[0] == [10, 20, 25, 30, 40, 50, 60]


def test_a_replacecommit_that_completed_after_the_last_clean_was_planned_stays() -> None:
    late = Instant(at(25), Action.REPLACE_COMMIT, State.COMPLETED, at(33))
    assert chosen(late, commits=8, cleaned=Cleaned(at(32)))[0] == [10, 20]
    assert chosen(late, commits=8, cleaned=Cleaned(at(34)))[0] == [10, 20, 25, 30, 40, 50, 60]


def test_a_replacecommit_stays_whose_files_a_savepoint_of_the_last_clean_kept() -> None:
    retained = Cleaned(at(45), at(40), savepointed=(at(10),))
    assert chosen(done(15, Action.REPLACE_COMMIT), cleaned=retained)[0] == [10]


def test_commits_stay_whose_files_the_last_clean_kept_when_that_is_asked_for() -> None:
    assert chosen(cleaned=Cleaned(at(45), at(20)))[0] == [10, 20, 30, 40]
    assert chosen(cleaned=Cleaned(at(45), at(20)), behind_cleaning=True)[0] == [10]


def test_what_completed_last_stays_though_it_was_requested_early() -> None:
    slow = Instant(at(25), Action.COMMIT, State.COMPLETED, at(99))
    assert chosen(slow) == ([10, 20], f"commit {at(25)} completed last, and later times continue from there")
    assert chosen(slow, done(100, Action.CLEAN))[0] == [10, 20, 25, 30, 40]
    assert chosen(Instant(at(5), Action.CLEAN, State.COMPLETED, at(99)))[0] == []
    assert chosen(Instant(at(60), Action.SAVEPOINT, State.COMPLETED, at(99)))[0] == [10, 20, 30, 40]


def test_the_nearest_bound_counts_and_is_named() -> None:
    assert chosen(bounds=(Stay(at(30), "far"), Stay(at(20), "near"))) == ([10], "near")


@pytest.mark.parametrize(
    ("compacted", "expected"), [((), [10, 20, 30]), ((35,), [10, 20, 30]), ((25,), [10, 20, 25]), ((45,), [10, 20, 30])]
)
def test_delta_commits_stay_that_the_trigger_of_compaction_counts(compacted: tuple[int, ...], expected: list[int]) -> None:
    deltas = [done(10 * number, Action.DELTA_COMMIT) for number in range(1, 6)]
    timeline = Timeline(collapse_states((*deltas, *(done(number) for number in compacted))), 2)
    fewest = 5 + len(compacted) - 3
    settings = ArchivalSettings(fewest=fewest, most=4, compaction_deltas=2)
    instants, _ = choose(ArchivalInputs(timeline, is_merge_on_read=True), settings)
    assert [int(instant.requested[-9:]) for instant in instants] == expected


def test_few_delta_commits_stay_all_with_the_compaction_before_them() -> None:
    deltas = [done(10 * number, Action.DELTA_COMMIT) for number in range(1, 6)]
    facts = ArchivalInputs(Timeline(collapse_states((*deltas, done(35))), 2), is_merge_on_read=True)
    instants, why = choose(facts, ArchivalSettings(fewest=1, most=4, compaction_deltas=9))
    assert [int(instant.requested[-9:]) for instant in instants] == [10, 20, 30]
    assert "compaction" in why
    assert (
        choose(ArchivalInputs(Timeline(tuple(deltas), 2), is_merge_on_read=True), ArchivalSettings(fewest=1, most=4, compaction_deltas=9))[
            0
        ]
        == ()
    )


def test_no_fewer_commits_may_be_kept_than_must() -> None:
    with pytest.raises(OptionError, match=r"hoodie\.keep\.max\.commits"):
        archival_settings(resolve({"hoodie.keep.min.commits": "30"}))
