"""Plans equal those that Apache Hudi made of the same files."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from pyhudi.codec.actions.plan_codec import decode_compaction_plan
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.service.compaction.compaction_plan import plan_compaction, plan_log_compaction
from pyhudi.service.compaction.compaction_settings import compaction_settings
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.load_timeline import load_timeline

PENDING = "apache_hudi/merge_on_read_pending_compaction_v9"


def settings(**options: str):
    return compaction_settings(resolve({name.replace("__", "."): value for name, value in options.items()}), date(2026, 1, 1))


def view_before(table, plan_file: str) -> FileSystemView:
    """The table as it was when Apache Hudi planned."""
    storage = LocalStorage(str(table))
    config = TableConfig(load_properties(storage))
    planned, _, _ = plan_file.partition(".")
    return FileSystemView(storage, config, load_timeline(storage, config).as_of(str(int(planned) - 1)))


def hudi_plan(table, suffix: str) -> tuple[str, CompactionPlan]:
    (file,) = [path for path in table.glob(f".hoodie/**/*.{suffix}") if not path.name.startswith(".")]
    return file.name, decode_compaction_plan(file.read_bytes())


def by_file(plan: CompactionPlan) -> list[Any]:
    return sorted(plan.operations or (), key=lambda one: one.file_id or "")


@pytest.mark.parametrize("version", [8, 9])
def test_compaction_plan_is_that_of_apache_hudi(fixture_table, version) -> None:
    table = fixture_table(f"apache_hudi/merge_on_read_pending_compaction_v{version}")
    name, expected = hudi_plan(table, "compaction.requested")
    plan = plan_compaction(view_before(table, name), settings(), ())
    # Slices with logs of one size come in any order there.
    assert by_file(plan) == by_file(expected)
    assert (plan.extra_metadata, plan.version, plan.strategy, plan.preserve_meta_columns, plan.missing_partitions) == (
        expected.extra_metadata,
        expected.version,
        expected.strategy,
        expected.preserve_meta_columns,
        expected.missing_partitions,
    )


@pytest.mark.parametrize("version", [8, 9])
def test_log_compaction_plan_is_that_of_apache_hudi(fixture_table, version) -> None:
    table = fixture_table(f"apache_hudi/merge_on_read_log_compacted_v{version}")
    name, expected = hudi_plan(table, "logcompaction.requested")
    plan = plan_log_compaction(view_before(table, name), settings(hoodie__log__compaction__blocks__threshold="2"), ())
    assert by_file(plan) == by_file(expected)
    assert (plan.strategy, plan.preserve_meta_columns, plan.version) == (
        expected.strategy,
        expected.preserve_meta_columns,
        expected.version,
    )


def test_busy_group_is_left_out(fixture_table) -> None:
    table = fixture_table(PENDING)
    name, expected = hudi_plan(table, "compaction.requested")
    busy, *others = expected.operations or ()
    plan = plan_compaction(view_before(table, name), settings(), {busy.group})
    assert [one.group for one in plan.operations or ()] == [one.group for one in others]


def test_partitions_that_a_strategy_leaves_for_later_stand_in_the_plan(fixture_table) -> None:
    table = fixture_table(PENDING)
    name, _ = hudi_plan(table, "compaction.requested")
    regex = {"hoodie__compaction__strategy": "PartitionRegexBasedCompactionStrategy", "hoodie__compaction__partition__path__regex": "lima"}
    plan = plan_compaction(view_before(table, name), settings(**regex), ())
    assert [one.partition_path for one in plan.operations or ()] == ["lima"]
    assert plan.missing_partitions == ("oslo",)
