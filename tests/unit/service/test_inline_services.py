"""Services that a write runs: all are switched off by one option, a failure is an error where another one asks for that, and a clustering
of what cannot be clustered is a warning of the first write alone."""

from __future__ import annotations

import logging
from typing import NoReturn

import pytest

from pyhudi.errors import OptionError, StorageError, TableServiceError, UnsupportedError
from pyhudi.service.archival import inline_archival
from pyhudi.spec.options import warn_unserved
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.workers import wait_for_background
from tests.unit.table.tables import make_table, ride, rows_of

DUE = {
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.compact.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "2",
    "hoodie.clustering.inline": "true",
    "hoodie.clustering.inline.max.commits": "2",
    "hoodie.partition.ttl.inline": "true",
    "hoodie.partition.ttl.strategy.days.retain": "1",
}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
CLUSTERINGS = ("hoodie.clustering.inline", "hoodie.clustering.async.enabled", "hoodie.clustering.schedule.inline")
OFF = {"hoodie.table.services.enabled": "false"}
FAIL = "hoodie.fail.writes.on.inline.table.service.exception"


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_one_option_switches_all_services_off(table_type: str) -> None:
    table = make_table(table_type=table_type, partition_by=["city"])
    for number in range(8):
        table.upsert([ride(1, value=number)], options=DUE | OFF)
    instants = load_timeline(table.storage, table.config).instants
    assert {one.action.value for one in instants} <= {"commit", "deltacommit"}
    assert len(instants) == 8
    assert table.services.clean(options={"hoodie.clean.commits.retained": "1"}) or table_type == "MERGE_ON_READ"
    table.upsert([ride(1, value=9)], options=DUE)
    assert {one.action.value for one in load_timeline(table.storage, table.config).instants} - {"commit", "deltacommit"}


def test_bounds_of_archival_that_contradict_one_another_are_refused_before_the_write() -> None:
    table = make_table()
    with pytest.raises(OptionError, match=r"hoodie\.keep\.max\.commits=4 must be more than hoodie\.keep\.min\.commits=20: set both"):
        table.upsert([ride(1)], options={"hoodie.keep.max.commits": "4"})
    assert load_timeline(table.storage, table.config).instants == ()


def test_a_service_that_fails_is_an_error_on_request_and_the_write_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise StorageError("the disk is full")

    table = make_table()
    table.upsert([ride(1)])
    monkeypatch.setattr(inline_archival, "archive", fail)
    for number in range(3):
        table.upsert([ride(1, value=number)], options=DUE | {"hoodie.clustering.inline": "false"})
    assert table.upsert([ride(2)], options=DUE).failed_services
    with pytest.raises(TableServiceError, match=r"is committed, do not repeat it; archiving failed .*the disk is full"):
        table.upsert([ride(3)], options=DUE | {FAIL: "true"})
    assert [row["id"] for row in rows_of(table)] == [1, 2, 3]
    table.upsert([ride(4)], options=DUE | {FAIL: "true"} | OFF)


@pytest.mark.parametrize("option", CLUSTERINGS)
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_table_of_fixed_buckets_warns_once_that_it_is_not_clustered(
    table_type: str, option: str, caplog: pytest.LogCaptureFixture
) -> None:
    warn_unserved.cache_clear()
    table = make_table(table_type=table_type)
    due = BUCKETS | {option: "true", "hoodie.clustering.inline.max.commits": "1", "hoodie.clustering.async.max.commits": "1"}
    with caplog.at_level(logging.WARNING, logger="pyhudi"):
        results = [table.upsert([ride(1, value=number)], options=due) for number in range(3)]
        wait_for_background()
    assert not any(result.failed_services for result in results)
    assert [record.getMessage().split(" of table")[0] for record in caplog.records] == [
        f"option '{option}' is not served and has no effect: the file groups"
    ]
    with pytest.raises(UnsupportedError, match=rf"{option}=true: .* fixed number of buckets.*leave the option out"):
        table.upsert([ride(1)], options=due | {"pyhudi.options.unserved": "refuse"})
    assert {one.action.value for one in load_timeline(table.storage, table.config).instants} <= {"commit", "deltacommit"}
