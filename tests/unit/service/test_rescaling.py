"""Other numbers of buckets for partitions: rows go to the buckets of their keys, in one commit that is rolled back with its expressions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, OptionError, UnsupportedError
from pyhudi.index.bucket_numbers import CONFIGS
from tests.unit.index.test_bucket import BUCKET, CONSISTENT_HASHING, buckets
from tests.unit.table.tables import make_table, ride, rows_of

KINDS = [("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("COPY_ON_WRITE", "6"), ("MERGE_ON_READ", "6")]
QUIET = {"hoodie.compact.inline": "false"}


def bucketed(table_type: str = "COPY_ON_WRITE", version: str = "9") -> HudiTable:
    """A table of 60 rows in four buckets of each of two partitions, a third of them updated."""
    table = make_table(partition_by=["city"], table_type=table_type, options={"hoodie.write.table.version": version})
    table.upsert([ride(n, "oslo" if n % 2 else "rome") for n in range(60)], options={**BUCKET, **QUIET})
    table.upsert([ride(n, "oslo" if n % 2 else "rome", value=7) for n in range(20)], options=QUIET)
    return table


def counts(table: HudiTable) -> dict[str, int]:
    return {path: sum(index[0] == path for index in buckets(table)) for path in ("oslo", "rome")}


def with_times(table: HudiTable) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_arrow(meta_columns=True).drop_columns("_hoodie_file_name").sort_by("id").to_pylist()
    return rows


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_partitions_get_their_numbers_and_rows_keep_their_times(table_type: str, version: str) -> None:
    table = bucketed(table_type, version)
    before = with_times(table)
    planned = table.services.rescale_buckets("^os,2;nowhere,9", dry_run=True)
    assert [(one.path, one.before, one.after) for one in planned.partitions] == [("oslo", 4, 2)]
    assert (planned.default, table.services.bucket_rules()) == (4, {})
    done = table.services.rescale_buckets("^os,2;nowhere,9")
    assert (done.state, done.rows, done.files) == ("completed", 30, 2)
    assert with_times(table) == before
    assert counts(table) == {"oslo": 2, "rome": 4}
    assert table.history().to_pylist()[-1]["operation"] == "BUCKET_RESCALE"
    table.upsert([ride(n, "oslo" if n % 2 else "rome", value=8) for n in range(70)], options=QUIET)
    assert counts(table) == {"oslo": 2, "rome": 4}
    assert sorted(row["value"] for row in rows_of(table)) == [8] * 70
    assert table.inspect.health().to_pylist() == []


def test_expressions_are_added_before_those_that_are_there_and_replaced() -> None:
    table = bucketed()
    first = table.services.rescale_buckets("oslo,2")
    added = table.services.rescale_buckets("o,3", add=True)
    assert (added.expressions, counts(table)) == ("o,3;oslo,2", {"oslo": 3, "rome": 3})
    last = table.services.rescale_buckets("rome,1", default=5)
    assert counts(table) == {"oslo": 5, "rome": 1}
    rules = table.services.bucket_rules()
    assert [*rules] == [first.instant, added.instant, last.instant]
    stored = json.loads(table.storage.read(f"{CONFIGS}/{last.instant}.hashing_config"))
    assert stored == {"expressions": "rome,1", "defaultBucketNumber": 5, "rule": "regex", "version": 1, "instant": last.instant}


def test_a_rolled_back_rescaling_leaves_the_numbers_before() -> None:
    table = bucketed()
    before = with_times(table)
    table.services.rescale_buckets("oslo,2")
    second = table.services.rescale_buckets("rome,8")
    table.services.rollback(second.instant)
    assert (counts(table), with_times(table)) == ({"oslo": 2, "rome": 4}, before)
    assert [rules.text for rules in table.services.bucket_rules().values()] == ["oslo,2"]
    savepoint = table.services.savepoint()
    table.services.rescale_buckets("rome,1")
    table.services.restore(to=savepoint.instant)
    table.upsert([ride(1, "rome", value=9)])
    assert counts(table) == {"oslo": 2, "rome": 4}


def test_a_partition_without_rows_and_a_table_without_partitions() -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(40)], options=BUCKET)
    table.services.rescale_buckets("x,2", default=4)
    assert len({bucket for _, bucket in buckets(table)}) == 4
    table.services.rescale_buckets("x,2", default=7)
    assert len({bucket for _, bucket in buckets(table)}) == 7
    assert len(rows_of(table)) == 40


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"expressions": "(,2"}, OptionError, "no regular expression"),
        ({"expressions": " ; "}, OptionError, "names no expression"),
        ({"expressions": "a,2", "default": 0}, OptionError, "must be 1 or more"),
        ({"expressions": "a,2", "default": 3}, OptionError, "contradict"),
        ({"expressions": "a,2", "options": {"hoodie.bucket.index.hash.field": "city"}}, OptionError, "no record key field"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(given: dict[str, Any], error: type[Exception], says: str) -> None:
    table = bucketed()
    with pytest.raises(error, match=says):
        table.services.rescale_buckets(**given)
    assert (len(table.history()), table.services.bucket_rules()) == (2, {})


def test_tables_without_numbered_buckets_are_refused() -> None:
    plain = make_table()
    plain.upsert([ride(1)])
    consistent = make_table(table_type="MERGE_ON_READ")
    consistent.upsert([ride(n) for n in range(9)], options=CONSISTENT_HASHING)
    for table in (plain, consistent):
        with pytest.raises(UnsupportedError, match=r"numbered buckets|consistent hashing"):
            table.services.rescale_buckets("a,2")
    empty = make_table()
    with pytest.raises(OptionError, match="no rows yet"):
        empty.services.rescale_buckets("a,2")


def test_a_pending_compaction_is_run_first() -> None:
    table = bucketed("MERGE_ON_READ")
    table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
    with pytest.raises(ConflictError, match="pending"):
        table.services.rescale_buckets("oslo,2")
    table.services.compact(mode="execute")
    assert table.services.rescale_buckets("oslo,2").rows == 30
