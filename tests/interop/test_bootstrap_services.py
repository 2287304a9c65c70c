"""Savepoints, restores, rollbacks, lifetimes and changes of version on bootstrapped tables, after which Apache Hudi reads and goes on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.bootstrapped import NO_STATISTICS, all_amounts, bootstrap, rides, write_source
from tests.interop.reference import ReferenceHudi
from tests.interop.test_bootstrap import WRITES, assert_alike
from tests.slow_cases import slow_cases


class _Later:
    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=3)


class Bootstrapped:
    """A table that was bootstrapped, which both sides change, and the amounts that it is to hold."""

    def __init__(self, reference: ReferenceHudi, table: HudiTable, name: str) -> None:
        self.reference, self.path, self.name, self.amounts = reference, table.storage.uri, name, all_amounts()

    @property
    def table(self) -> HudiTable:
        """The table, opened again."""
        return HudiTable.open(self.path)

    def change(self, number: int, *, is_ours: bool) -> None:
        """Change rows of the skeleton and add one."""
        changed = rides([number, 12 + number, 200 + number], "lima", 1000.0 + number, ts=number)
        if is_ours:
            self.table.upsert(changed, NO_STATISTICS)
        else:
            self.reference.write(self.table.storage.uri, changed, "append", WRITES)
        self.amounts = self.amounts | {f"k{key}": 1000.0 + number for key in (number, 12 + number, 200 + number)}

    def check(self) -> None:
        assert_alike(self.reference, self.table, self.amounts)
        assert [row for row in self.table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


def restores(one: Bootstrapped) -> None:
    """Each side restores to a savepoint of the other, the first one of the bootstrap itself."""
    saved, amounts = one.table.services.savepoint().instant, dict(one.amounts)
    one.change(1, is_ours=True)
    one.change(2, is_ours=False)
    one.reference.sql(f"CALL rollback_to_savepoint(table => '{one.name}', instant_time => '{saved}')", conf=NO_STATISTICS)
    one.amounts = amounts
    one.check()
    one.table.services.delete_savepoint(saved)
    one.change(3, is_ours=True)
    one.reference.sql(f"REFRESH TABLE {one.name}", f"CALL create_savepoint(table => '{one.name}')", conf=NO_STATISTICS)
    (savepoint,) = one.table.services.savepoints()
    amounts = dict(one.amounts)
    one.change(4, is_ours=False)
    one.change(5, is_ours=True)
    one.table.services.restore(to=savepoint.instant)
    one.amounts = amounts


def rollbacks(one: Bootstrapped) -> None:
    amounts = dict(one.amounts)
    one.change(1, is_ours=False)
    one.table.services.rollback(one.table.services.savepoint(dry_run=True).instant)
    one.amounts = amounts
    one.check()
    one.change(2, is_ours=True)
    last = one.table.services.savepoint(dry_run=True).instant
    one.reference.sql(f"REFRESH TABLE {one.name}", f"CALL rollback_to_instant(table => '{one.name}', instant_time => '{last}')")
    one.amounts = amounts


def lifetimes(one: Bootstrapped) -> None:
    """The partitions that nobody wrote to since the bootstrap expire; the source stays."""
    later = HudiTable(one.table.storage, clock=_Later())
    later.upsert(rides([1, 300], "lima", 7.0, ts=9), NO_STATISTICS)
    done = later.services.ttl(options={"hoodie.partition.ttl.strategy.days.retain": "2"} | NO_STATISTICS)
    assert {expired.path for expired in done.partitions} == {"oslo", "rome"}
    one.amounts = {f"k{key}": float(key) for key in range(20)} | {"k1": 7.0, "k300": 7.0}
    one.check()
    later.services.clean(options={"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"})


def versions(one: Bootstrapped) -> None:
    """Down by us, up by Apache Hudi."""
    one.change(1, is_ours=True)
    one.table.services.downgrade("8", options=NO_STATISTICS)
    one.check()
    one.reference.sql(f"REFRESH TABLE {one.name}", f"CALL upgrade_table(table => '{one.name}', to_version => 'NINE')", conf=NO_STATISTICS)


ACTIONS: tuple[Callable[[Bootstrapped], None], ...] = (restores, rollbacks, lifetimes, versions)
CASES = [(action, table_type) for action in ACTIONS for table_type in ("COPY_ON_WRITE", "MERGE_ON_READ")]


@pytest.mark.parametrize("case", slow_cases(CASES, CASES), ids=lambda case: f"{case[0].__name__}-{case[1]}")
def test_apache_hudi_reads_and_continues_what_a_service_leaves(
    reference: ReferenceHudi, tmp_path: Path, case: tuple[Callable[[Bootstrapped], None], str]
) -> None:
    action, table_type = case
    source, path = write_source(tmp_path / "plain"), tmp_path / "rides"
    table = bootstrap(path, source, table_type=table_type)
    name = f"served_{action.__name__}_{table_type}".lower()
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    one = Bootstrapped(reference, table, name)
    action(one)
    one.check()
    if action is not lifetimes:  # whose instants are days ahead, after which Apache Hudi's would not be the latest
        one.change(6, is_ours=False)
        one.check()
    one.change(7, is_ours=True)
    one.check()
    assert len(list(source.rglob("*.parquet"))) == 6
