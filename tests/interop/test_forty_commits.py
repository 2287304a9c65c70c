"""Forty commits of every kind with all services on, by turns of pyhudi and Apache Hudi: after each turn both read the same rows.

Either side cleans, archives, compacts, clusters, makes savepoints, restores to those of the other, rolls back, and changes the version.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import CITIES, trips

COMMITS = 40
#: Services that follow a commit: a clean and an archival nearly each time, a compaction every third.
INLINE = {
    "hoodie.clean.commits.retained": "3",
    "hoodie.keep.min.commits": "5",
    "hoodie.keep.max.commits": "7",
    "hoodie.metadata.compact.max.delta.commits": "3",
    "hoodie.write.auto.upgrade": "false",
}
COMPACTION = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "3"}
CLUSTERING = {"hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true"}
WORDS = {6: "SIX", 8: "EIGHT", 9: "NINE"}


class Turns:
    """One table, the rows that must be in it, and what each side does to it; even turns are pyhudi's."""

    def __init__(self, kind: Kind, reference: ReferenceHudi, path: Path) -> None:
        self.kind, self.reference, self.path = kind, reference, path
        self.model, self.turn, self.saved = Model(), 0, dict[str, dict[str, dict[str, Any]]]()
        self.inline = INLINE | (COMPACTION if kind.table_type == "MERGE_ON_READ" else {})
        self.name = f"forty_{kind.name}"
        kind.create(path)
        self.table.insert(self.model.upsert(trips(0, 30)), options=self.inline)
        reference.sql(f"CREATE TABLE {self.name} USING hudi LOCATION '{path}'")

    @property
    def table(self) -> HudiTable:
        return HudiTable.open(self.path)

    @property
    def ours(self) -> bool:
        return self.turn % 2 == 0

    def write(self, operation: str, rows: pa.Table) -> None:
        if self.ours:
            getattr(self.table, operation)(rows, options=self.inline)
        else:
            version = {"hoodie.write.table.version": str(self.table.config.version)}
            self.reference.write(self.path, rows, "append", self.kind.reference_options(operation) | self.inline | version)

    def call(self, procedure: str, *arguments: str) -> list[dict[str, Any]]:
        stated = ", ".join((f"table => '{self.name}'", *arguments))
        rows: list[dict[str, Any]] = self.reference.sql(
            f"REFRESH TABLE {self.name}", f"CALL {procedure}({stated})", conf=self.inline
        ).to_pylist()
        return rows

    # Commits.

    def upsert(self) -> None:
        first = self.turn * 7 % 40
        self.write("upsert", self.model.upsert(trips(first, first + 8, amount=100 + self.turn)))

    def insert(self) -> None:
        first = 1000 + 10 * self.turn
        self.write("insert", self.model.upsert(trips(first, first + 4, amount=self.turn)))

    def load(self) -> None:
        first = 2000 + 10 * self.turn
        self.write("bulk_insert", self.model.upsert(trips(first, first + 4, amount=self.turn)))

    def delete(self) -> None:
        first = self.turn * 3 % 30
        self.write("delete", self.model.delete(trips(first, first + 3)))

    def update(self) -> None:
        condition = "city = 'lima' AND amount > 0"
        for row in self.model.rows.values():
            if row["city"] == "lima" and row["amount"] > 0:
                row["price"] = self.turn + 0.25
        if self.ours:
            self.table.update({"price": self.turn + 0.25}, condition, options=self.inline)
        else:
            self.reference.sql(
                f"REFRESH TABLE {self.name}",
                f"UPDATE {self.name} SET price = {self.turn}.25D WHERE {condition}",
                conf=self.inline,
            )

    def overwrite(self) -> None:
        rows = trips(0, 60, amount=self.turn)
        rows = rows.filter(pa.array([city == CITIES[2] for city in rows["city"].to_pylist()]))
        self.model.rows = {key: row for key, row in self.model.rows.items() if row["city"] != CITIES[2]}
        self.model.upsert(rows)
        if self.ours:
            self.table.overwrite(rows, dynamic=True, options=self.inline)
        else:
            self.write("insert_overwrite", rows)

    def drop_partition(self) -> None:
        self.model.rows = {key: row for key, row in self.model.rows.items() if row["city"] != CITIES[0]}
        if self.ours:
            self.table.delete(partitions=[CITIES[0]], options=self.inline)
        else:
            self.reference.sql(
                f"REFRESH TABLE {self.name}", f"ALTER TABLE {self.name} DROP PARTITION (city = '{CITIES[0]}')", conf=self.inline
            )

    # Services.

    def clean(self) -> None:
        self.table.services.clean(options={"hoodie.clean.commits.retained": "2"}) if self.ours else self.call(
            "run_clean", "retain_commits => 2"
        )

    def cluster(self) -> None:
        if self.ours:
            self.table.services.cluster(options=CLUSTERING)
        else:
            options = ",".join(f"{key}={value}" for key, value in CLUSTERING.items())
            self.call("run_clustering", "order => 'amount'", f"options => '{options}'")

    def compact(self) -> None:
        if not self.table.config.is_merge_on_read:
            return
        if self.ours:
            self.table.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
        else:
            self.call("run_compaction", "op => 'scheduleAndExecute'", "options => 'hoodie.compact.inline.max.delta.commits=1'")

    def archive(self) -> None:
        if self.ours:
            self.table.services.archive(options=self.inline)
        else:
            self.call("archive_commits", "min_commits => 5", "max_commits => 6", "retain_commits => 3", "enable_metadata => true")

    def savepoint(self) -> None:
        if self.ours:
            self.table.services.savepoint()
        else:
            assert self.call("create_savepoint") == [{"create_savepoint_result": True}]
        (saved,) = self.table.services.savepoints()
        self.saved = {saved.instant: copy.deepcopy(self.model.rows)}

    def restore(self) -> None:
        ((instant, rows),) = self.saved.items()
        if self.ours:
            self.table.services.restore(to=instant)
            self.table.services.delete_savepoint(instant)
        else:
            assert self.call("rollback_to_savepoint", f"instant_time => '{instant}'") == [{"rollback_savepoint_result": True}]
            self.call("delete_savepoint", f"instant_time => '{instant}'")
        self.model.rows, self.saved = rows, {}

    def change_version(self) -> None:
        current = self.table.config.version
        other = {6: 8, 8: 9, 9: 8}[current] if current == self.kind.version else self.kind.version
        word = "upgrade" if other > current else "downgrade"
        if self.ours:
            getattr(self.table.services, word)(str(other))
        else:
            self.call(f"{word}_table", f"to_version => '{WORDS[other]}'")
        assert self.table.config.version == other

    def check(self, what: str) -> None:
        assert_both_read(self.reference, self.path, self.model.sorted())
        problems = [row for row in self.table.inspect.health().to_pylist() if row["check"] != "nothing pending"]
        assert problems == [], f"turn {self.turn}, {what}"


def services(turns: Turns) -> dict[int, Callable[[], None]]:
    """What comes after the commit of a turn; those of even turns are pyhudi's, those of odd ones Apache Hudi's."""
    return {
        4: turns.clean,
        5: turns.cluster,
        8: turns.savepoint,
        11: turns.restore,
        12: turns.compact,
        13: turns.clean,
        14: turns.cluster,
        17: turns.savepoint,
        20: turns.restore,
        21: turns.compact,
        22: turns.archive,
        23: turns.archive,
        26: turns.change_version,
        29: turns.change_version,
        31: turns.change_version,
        34: turns.change_version,
    }


@pytest.mark.slow
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", [6, 8, 9])
def test_both_sides_read_the_same_rows_after_every_commit_and_service(
    version: int, table_type: str, reference: ReferenceHudi, tmp_path: Path
) -> None:
    kind = Kind(f"{table_type.lower()}_{version}", table_type=table_type, version=version)
    turns = Turns(kind, reference, tmp_path / "t")
    commits = [
        turns.upsert,
        turns.insert,
        turns.delete,
        turns.upsert,
        turns.overwrite,
        turns.update,
        turns.load,
        turns.drop_partition,
        turns.upsert,
    ]
    following = services(turns)
    for turn in range(COMMITS):
        turns.turn = turn
        # Nine commits a round, so that each is done by both sides.
        commit = commits[turn % len(commits)]
        commit()
        turns.check(commit.__name__)
        if (service := following.get(turn)) is not None:
            service()
            turns.check(service.__name__)
    actions = turns.table.history()["action"].to_pylist()
    # Compactions complete as commits. The archive has restores of merge-on-read tables as the rollbacks that they were: design note 0188.
    of_type = {"rollback": 1} if table_type == "MERGE_ON_READ" else {"restore": 1}
    done = {"clean": 10} | of_type | ({"commit": 3} if version > 6 and table_type == "MERGE_ON_READ" else {})
    assert {action: count for action, count in done.items() if actions.count(action) < count} == {}
    assert list((turns.path / ".hoodie").rglob("*.parquet" if turns.table.config.version > 6 else ".commits_.archive*"))
