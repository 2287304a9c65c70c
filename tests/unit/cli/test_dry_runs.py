"""`--dry-run` of every command writes nothing: the folder of the table is the same before and after, times of files included.

Also where writers left failed writes behind, which a run would roll back first, and where services are planned.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pyarrow as pa
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from tests.slow_cases import slow_cases
from tests.unit.cli.test_command_group import commands

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "ts": pa.int64()})
QUIET = {
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.parquet.small.file.limit": "0",
}
FEW = ["--option", "hoodie.clean.commits.retained=1"]
#: What makes a command find work, or is needed by it.
ARGUMENTS = {
    ("clean",): FEW,
    ("archive",): [*FEW, "--option", "hoodie.keep.min.commits=2", "--option", "hoodie.keep.max.commits=3"],
    ("compact",): ["--option", "hoodie.compact.inline.max.delta.commits=1"],
    ("ttl",): ["--option", "hoodie.partition.ttl.strategy.days.retain=1"],
    ("drop-partitions",): ["--partitions", "rome"],
    ("upgrade",): ["--to", "9"],
    ("downgrade",): ["--to", "8"],
    ("repair", "deduplicate"): ["--partition", "oslo"],
}
MODES = [[], ["--mode", "schedule"], ["--mode", "execute"]]
VARIANTS = {
    "clean": MODES,
    "compact": MODES,
    "cluster": MODES,
    "index": [["record_index"], ["bloom_filters"], ["--rebuild"], ["column_stats", "--drop"]],
}
EVERY = list(itertools.product(("COPY_ON_WRITE", "MERGE_ON_READ"), ("9", "6"), ("at rest", "planned", "failed")))


def table_in(path: Path, table_type: str, version: str, state: str) -> HudiTable:
    """A table of six commits; with planned services, or a write whose last step did not happen."""
    options = {"hoodie.write.table.version": version}
    table = HudiTable.create(
        path, SCHEMA, name="t", keys=["id"], partition_by=["city"], order_by=["ts"], table_type=table_type, options=options
    )
    for number in range(6):
        table.upsert([{"id": id_, "city": ("oslo", "rome")[id_ % 2], "ts": number} for id_ in range(4)], QUIET)
    if state == "planned":
        if table.config.is_merge_on_read:
            table.services.compact(mode="schedule", options={"hoodie.compact.inline.max.delta.commits": "1"})
        else:
            table.services.cluster(mode="schedule")
        table.services.clean(mode="schedule", options={"hoodie.clean.commits.retained": "1"})
    if state == "failed":
        timeline = path / (".hoodie" if version == "6" else ".hoodie/timeline")
        max(timeline.glob("*commit"), key=lambda file: file.name).unlink()
        shutil.rmtree(path / ".hoodie/.heartbeat", ignore_errors=True)
    return table


def dry_runs(path: Path, properties: Path) -> Iterator[list[str]]:
    """Yield the calls of all commands that have dry runs."""
    times = HudiTable.open(path).history()["requested"].to_pylist()
    for words, command in commands():
        if not any("--dry-run" in parameter.opts for parameter in command.params):
            continue
        values = {"path": str(path), "paths": str(path), "file": str(properties), "instant": times[2 if words[0] == "restore" else -1]}
        named = [values[one.name] for one in command.params if isinstance(one, click.Argument) and one.name in values]
        for variant in VARIANTS.get(words[0], [[]]):
            yield [*words, *named, *variant, *_stated(words, command, path), "--dry-run"]


def _stated(words: tuple[str, ...], command: click.Command, path: Path) -> list[str]:
    other = "COPY_ON_WRITE" if HudiTable.open(path).config.is_merge_on_read else "MERGE_ON_READ"
    flags = {flag for parameter in command.params for flag in parameter.opts}
    return ["--target-type", other] if "--target-type" in flags else ARGUMENTS.get(words, [])


def contents(path: Path) -> dict[str, tuple[int, bytes | None]]:
    return {str(one): (one.stat().st_mtime_ns, one.read_bytes() if one.is_file() else None) for one in path.rglob("*")}


@pytest.mark.parametrize(
    ("table_type", "version", "state"),
    [pytest.param(*one.values[0], marks=one.marks) for one in slow_cases(EVERY, set(EVERY) - {("MERGE_ON_READ", "9", "failed")})],
    ids=[" ".join(one) for one in EVERY],
)
def test_nothing_is_written(table_type: str, version: str, state: str, tmp_path: Path) -> None:
    path, properties = tmp_path / "t", tmp_path / "table.properties"
    table_in(path, table_type, version, state)
    shutil.copy(path / ".hoodie/hoodie.properties", properties)
    calls = list(dry_runs(path, properties))
    assert len(calls) > 25
    for call in calls:
        before = contents(tmp_path)
        result = CliRunner().invoke(main, call)
        assert (call, result.exit_code) in ((call, 0), (call, 1), (call, 2))
        assert result.exception is None or isinstance(result.exception, SystemExit), call
        assert (call, contents(tmp_path)) == (call, before)
