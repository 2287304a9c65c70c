"""Savepoints, restores, rollbacks and partition lifetimes of either side on tables of the other: both read the same rows after each."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.kinds import Kind, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, trips

INDEXED = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
#: Apache Hudi upgrades tables unasked.
AS_IT_IS = {"hoodie.write.auto.upgrade": "false"}
COPY_ON_WRITE = Kind("copy_on_write")
OF_VERSION_6 = Kind("merge_on_read_version_6", table_type="MERGE_ON_READ", version=6)
KINDS = [
    COPY_ON_WRITE,
    pytest.param(Kind("merge_on_read", table_type="MERGE_ON_READ"), marks=pytest.mark.slow),
    pytest.param(Kind("merge_on_read_version_8", table_type="MERGE_ON_READ", version=8), marks=pytest.mark.slow),
    OF_VERSION_6,
    pytest.param(Kind("copy_on_write_version_6", version=6), marks=pytest.mark.slow),
]
#: Copy-on-write tables take as long, and have no log files to roll back.
RESTORED = [pytest.param(COPY_ON_WRITE, marks=pytest.mark.slow), *KINDS[1:]]

#: Several tests of a session make tables of one kind.
_NUMBERS = itertools.count()


@dataclass
class Story:
    """A table of both sides."""

    kind: Kind
    reference: ReferenceHudi
    path: Path
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = f"saved_{self.kind.name}_{next(_NUMBERS)}"
        self.kind.create(self.path)
        self.write(trips(0, 6, amount=1))
        self.write(trips(0, 3, amount=2), by_reference=True)
        self.reference.sql(f"CREATE TABLE {self.name} USING hudi LOCATION '{self.path}'")

    @property
    def options(self) -> dict[str, str]:
        return INDEXED if self.kind.version > 6 else {"hoodie.metadata.enable": "true"}

    @property
    def table(self) -> HudiTable:
        return HudiTable.open(self.path)

    def rows(self) -> list[dict[str, object]]:
        return data(self.table.to_arrow())

    def write(self, rows: pa.Table, *, by_reference: bool = False) -> None:
        if by_reference:
            options = {**self.kind.reference_options("upsert"), **self.options, **AS_IT_IS}
            self.reference.write(self.path, rows, "append", options)
        else:
            self.table.upsert(rows, options=self.options)

    def write_by_both(self, amount: int) -> None:
        for number in range(4):
            self.write(trips(number, 4 + 2 * number, amount=amount + number), by_reference=number % 2 == 1)

    def call(self, procedure: str, *arguments: str) -> list[dict[str, object]]:
        stated = ", ".join((f"table => '{self.name}'", *arguments))
        result: list[dict[str, object]] = self.reference.sql(f"CALL {procedure}({stated})", conf=AS_IT_IS).to_pylist()
        return result

    def check(self, rows: list[dict[str, object]]) -> None:
        """Both sides read these rows, Apache Hudi by its metadata table and without."""
        assert_both_read(self.reference, self.path, rows)
        for enabled in ("true", "false"):
            assert data(self.reference.read(self.path, hoodie__metadata__enable=enabled)) == rows
        assert [row for row in self.table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


@pytest.mark.parametrize("kind", RESTORED, ids=lambda kind: kind.name)
def test_each_side_restores_to_savepoints_of_the_other(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    story = Story(kind, reference, tmp_path / "t")
    rows = story.rows()
    saved = story.table.services.savepoint(user="ann")
    assert story.call("show_savepoints") == [{"savepoint_time": saved.instant}]
    story.write_by_both(10)
    story.call("rollback_to_savepoint", f"instant_time => '{saved.instant}'")
    story.check(rows)
    assert story.call("delete_savepoint", f"instant_time => '{saved.instant}'") == [{"delete_savepoint_result": True}]

    story.write_by_both(20)
    rows = story.rows()
    assert story.call("create_savepoint") == [{"create_savepoint_result": True}]
    (saved,) = story.table.services.savepoints()
    story.write_by_both(30)
    partitions = story.table.config.metadata_partitions
    done = story.table.services.restore(to=saved.instant)
    assert len(done.rolled_back) >= 4
    # Apache Hudi may have built partition statistics in its last write, which pyhudi drops on merge-on-read tables.
    assert set(story.table.config.metadata_partitions) | {"partition_stats"} == {*partitions, "partition_stats"}
    story.check(rows)

    story.write(trips(1, 9, amount=50), by_reference=True)
    story.check(story.rows())
    story.write(trips(0, 2, amount=60))
    story.check(story.rows())


@pytest.mark.parametrize("kind", KINDS[:1], ids=lambda kind: kind.name)
def test_each_side_rolls_back_the_latest_commit_of_the_other(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    story = Story(kind, reference, tmp_path / "t")
    rows = story.rows()
    story.write(trips(0, 9, amount=10), by_reference=True)
    story.table.services.rollback(story.table.services.savepoint(dry_run=True).instant)
    story.check(rows)
    (rollback,) = story.call("show_rollbacks")
    assert (rollback["total_files_deleted"], rollback["total_partitions"]) == (3, 3)
    story.write(trips(0, 9, amount=20))
    last = story.table.services.savepoint(dry_run=True).instant
    assert story.call("rollback_to_instant", f"instant_time => '{last}'") == [{"rollback_result": True}]
    story.check(rows)
    story.write(trips(0, 9, amount=30))
    story.check(story.rows())
