"""The service runner: policies, services by need, and tables that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError
from pyhudi.table.runner.run_services import run_services
from pyhudi.table.runner.service_policy import SERVICES, ServicePolicy, TablePolicy, parse_policy
from pyhudi.table.table_services import Services

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})
PLAIN = {"hoodie.metadata.enable": "false", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}


def make(path: Path, commits: int, *, table_type: str = "COPY_ON_WRITE", **arguments: Any) -> HudiTable:
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], table_type=table_type, **arguments)
    for number in range(commits):
        table.upsert([{"id": number % 2, "city": "oslo"}], options={**PLAIN, "hoodie.compact.inline": "false"})
    return table


def states(policy: ServicePolicy, **arguments: Any) -> dict[str, str]:
    return {run.service: run.state for run in run_services(policy, **arguments).runs}


def test_each_service_runs_by_need_and_says_why_not(tmp_path: Path) -> None:
    table = make(tmp_path / "t", 6, table_type="MERGE_ON_READ", partition_by=["city"])
    options = {
        "hoodie.clean.commits.retained": "1",
        "hoodie.compact.inline.max.delta.commits": "2",
        "hoodie.keep.min.commits": "2",
        "hoodie.keep.max.commits": "3",
        "hoodie.partition.ttl.strategy.days.retain": "1",
        "hoodie.metadata.enable": "false",
    }
    policy = ServicePolicy((TablePolicy(table.storage.uri, options=options),))
    planned = run_services(policy, dry_run=True)
    assert {run.service: run.state for run in planned.runs}["compact"] == "planned"
    assert table.history().num_rows == 6
    done = run_services(policy)
    assert [run.service for run in done.runs] == list(SERVICES)
    by_service = {run.service: run for run in done.runs}
    assert by_service["compact"].state == "done"
    assert by_service["archive"].state == "done" or by_service["archive"].reason
    assert by_service["ttl"].reason == "no partition has expired"
    assert not done.failed
    again = {run.service: run for run in run_services(policy).runs}
    assert "fewer delta commits" in again["compact"].reason
    assert all(run.reason for run in again.values() if run.state == "nothing to do")
    assert sorted(row["id"] for row in table.to_arrow().to_pylist()) == [0, 1]


def test_what_a_table_does_not_need_is_told(tmp_path: Path) -> None:
    table = make(tmp_path / "t", 1)
    runs = {run.service: run for run in run_services(ServicePolicy((TablePolicy(table.storage.uri),))).runs}
    assert {run.state for run in runs.values()} == {"nothing to do"}
    assert runs["compact"].reason == "the table is copy-on-write"
    assert runs["cluster"].reason == "1 commits since the last clustering, hoodie.clustering.inline.max.commits is 4"
    assert runs["ttl"].reason == "the table has no partitions"
    assert runs["ttl"].to_dict()["results"] == []


@pytest.mark.parametrize("option", ["hoodie.clustering.inline.max.commits", "hoodie.clustering.async.max.commits"])
def test_clustering_is_due_by_the_option_that_is_given(tmp_path: Path, option: str) -> None:
    table = make(tmp_path / "t", 2)
    for due, reason in (("3", f"2 commits since the last clustering, {option} is 3"), ("2", "")):
        policy = ServicePolicy((TablePolicy(table.storage.uri, ("cluster",), options={option: due}),))
        (run,) = run_services(policy, dry_run=True).runs
        assert (run.state, run.reason) == ("nothing to do" if reason else "planned", reason)


def test_fixed_buckets_are_not_clustered(tmp_path: Path) -> None:
    options = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2", "hoodie.clustering.inline.max.commits": "1"}
    table = make(tmp_path / "t", 0)
    table.upsert([{"id": number, "city": "oslo"} for number in range(9)], options=options)
    (run,) = run_services(ServicePolicy((TablePolicy(table.storage.uri, ("cluster",), options=options),))).runs
    assert (run.state, run.reason) == ("nothing to do", "the file groups are a fixed number of buckets, which rows cannot leave")


def test_a_broken_table_does_not_stop_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = make(tmp_path / "good", 1)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(Services, "clean", fail)
    policy = ServicePolicy(tuple(TablePolicy(path, ("clean", "archive")) for path in (str(tmp_path / "none"), good.storage.uri)))
    report = run_services(policy)
    assert [(run.service, run.state) for run in report.runs] == [("open", "failed"), ("clean", "failed"), ("archive", "nothing to do")]
    assert report.failed
    assert "RuntimeError: a defect" in str(report.runs[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hoodie.write.lock.provider", "org.mine.Lock"),
        ("hoodie.write.lock.provider", "ZookeeperBasedLockProvider"),
        ("hoodie.write.concurrency.mode", "both"),
        ("hoodie.write.concurrency.mode", "NON_BLOCKING_CONCURRENCY_CONTROL"),
        ("hoodie.write.lock.conflict.resolution.strategy", "org.mine.Strategy"),
        ("hoodie.client.heartbeat.interval_in_ms", "5"),
        ("hoodie.table.name", "u"),
    ],
)
def test_an_option_that_all_services_refuse_is_said_once_for_each_table(tmp_path: Path, name: str, value: str) -> None:
    tables = [make(tmp_path / folder, 1).storage.uri for folder in ("a", "b")]
    report = run_services(ServicePolicy(tuple(TablePolicy(path, options={name: value}) for path in tables)))
    assert [(run.table, run.service, run.state) for run in report.runs] == [(path, "options", "failed") for path in tables]
    assert all(value in run.reason for run in report.runs)
    assert report.failed


def test_a_round_ends_between_services(tmp_path: Path) -> None:
    table = make(tmp_path / "t", 1)
    names: list[str] = []
    policy = ServicePolicy((TablePolicy(table.storage.uri),))
    report = run_services(policy, stops=lambda: len(names) == 2, tell=lambda run: names.append(run.service))
    assert report.interrupted
    assert names == ["clean", "compact"]


def test_a_policy_is_for_all_tables_and_for_each() -> None:
    policy = parse_policy(
        {
            "interval": "10m",
            "services": ["archive", "clean"],
            "options": {"hoodie.clean.commits.retained": 5, "hoodie.metadata.enable": False},
            "tables": ["/a", {"path": "/b", "services": ["ttl"], "options": {"hoodie.clean.commits.retained": 7}}],
        }
    )
    assert policy.interval_s == 600
    first, second = policy.tables
    assert (first.path, first.services) == ("/a", ("clean", "archive"))
    assert first.options == {"hoodie.clean.commits.retained": "5", "hoodie.metadata.enable": "false"}
    assert (second.services, second.options["hoodie.clean.commits.retained"]) == (("ttl",), "7")


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ([], "mapping"),
        ({}, "'tables'"),
        ({"tables": []}, "'tables'"),
        ({"tables": ["/a"], "intervall": 1}, "'intervall'.*interval"),
        ({"tables": ["/a"], "interval": "soon"}, "'interval'"),
        ({"tables": ["/a"], "interval": 0}, "'interval'"),
        ({"tables": ["/a"], "services": "clean"}, "'services'"),
        ({"tables": ["/a"], "services": ["cleen"]}, "'services'.*'cleen'.*clean"),
        ({"tables": [{"services": ["clean"]}]}, r"'tables\[0\].path'"),
        ({"tables": [{"path": "/a", "option": {}}]}, r"'tables\[0\].option'.*options"),
        ({"tables": [{"path": "/a", "options": ["x"]}]}, r"'tables\[0\].options'"),
        ({"tables": [{"path": "/a", "options": {"hoodie.clean.commits.retained": 0}}]}, r"'tables\[0\].options'.*commits.retained"),
        (
            {"tables": [{"path": "/a", "options": {"hoodie.cleen": 1, "pyhudi.options.unknown": "refuse"}}]},
            r"'tables\[0\].options'.*hoodie.cleen",
        ),
        ({"tables": [{"path": "/a", "options": {"hoodie.clean.policy": []}}]}, r"options.hoodie.clean.policy'"),
        ({"tables": ["/a", "/a"]}, "twice"),
        ({"tables": [5]}, r"'tables\[0\]'"),
    ],
)
def test_a_bad_policy_is_an_error_that_names_the_key(content: object, key: str) -> None:
    with pytest.raises(OptionError, match=key):
        parse_policy(content)
