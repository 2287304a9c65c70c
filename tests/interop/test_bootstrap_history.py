"""Twenty mixed commits with services on a bootstrapped table, by both in turn, whichever bootstrapped it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.bootstrapped import NO_STATISTICS, all_amounts, bootstrap, rides, write_source
from tests.interop.reference import ReferenceHudi
from tests.interop.test_bootstrap import WRITES, assert_alike, reference_bootstraps

CITIES = ("lima", "oslo", "rome")
#: Services by the number of the commit after which they run; both clean, compact and cluster once at least.
OURS = {3: "clean", 6: "compact", 9: "cluster", 13: "archive", 16: "clean"}
THEIRS = {4: "compact", 7: "clean", 11: "cluster"}
FEW = {
    "hoodie.clean.commits.retained": "2",
    "hoodie.keep.min.commits": "4",
    "hoodie.keep.max.commits": "6",
    "hoodie.compact.inline.max.delta.commits": "1",
}


@dataclass
class History:
    """A table, its name in the session of Apache Hudi, and the amounts that it is to hold."""

    reference: ReferenceHudi
    table: HudiTable
    name: str
    amounts: dict[str, float]

    @property
    def path(self) -> str:
        return self.table.storage.uri

    def commit(self, number: int) -> None:
        """Change one row of a city and add one, or delete one; the two take turns."""
        city = CITIES[number % 3]
        known, new = 20 * (number % 3) + number, 100 + number
        is_ours = number % 2 == 0
        if number % 5 == 4:
            self.delete(f"k{known - 1}", is_ours=is_ours)
            return
        changed = rides([known, new], city, 1000.0 + number, ts=number)
        if is_ours:
            self.table.upsert(changed, NO_STATISTICS)
        else:
            self.reference.write(self.path, changed, "append", WRITES)
        self.amounts |= {f"k{known}": 1000.0 + number, f"k{new}": 1000.0 + number}

    def delete(self, key: str, *, is_ours: bool) -> None:
        if is_ours:
            self.table.delete(where=f"id = '{key}'", options=NO_STATISTICS)
        else:
            row = self.table.to_arrow(filter=f"id = '{key}'")
            self.reference.write(self.path, row, "append", {**WRITES, "hoodie.datasource.write.operation": "delete"})
        self.amounts.pop(key, None)

    def serve(self, number: int) -> None:
        is_merge_on_read = self.table.config.is_merge_on_read
        ours, theirs = OURS.get(number), THEIRS.get(number)
        if ours == "compact" and is_merge_on_read:
            self.table.services.compact(options=FEW | NO_STATISTICS)
        elif ours == "cluster":
            self.table.services.cluster(options=NO_STATISTICS)
        elif ours == "clean":
            self.table.services.clean(options=FEW)
        elif ours == "archive":
            self.table.services.archive(options=FEW)
        if theirs == "compact" and is_merge_on_read:
            self.reference.sql(f"CALL run_compaction(op => 'scheduleAndExecute', path => '{self.path}')", conf=FEW | NO_STATISTICS)
        elif theirs == "cluster":
            self.reference.sql(f"CALL run_clustering(path => '{self.path}')", conf=NO_STATISTICS)
        elif theirs == "clean":
            self.reference.sql(f"CALL run_clean(table => '{self.name}', retain_commits => 2)", conf=NO_STATISTICS)


@pytest.mark.slow
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("by_reference", [True, False])
def test_twenty_mixed_commits(reference: ReferenceHudi, tmp_path: Path, by_reference: bool, table_type: str) -> None:
    source, path = write_source(tmp_path / "plain"), tmp_path / "rides"
    if by_reference:
        table = reference_bootstraps(reference, path, source, table_type, {})
    else:
        table = bootstrap(path, source, table_type=table_type)
    name = f"rides_{by_reference}_{table_type}".lower()
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    history = History(reference, table, name, all_amounts())
    for number in range(20):
        history.commit(number)
        history.serve(number)
        assert_alike(reference, history.table, history.amounts)
    assert history.table.inspect.verify().num_rows == 0
    assert len(list(source.rglob("*.parquet"))) == 6
