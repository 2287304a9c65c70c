"""Archival by each side in turn: both find what the other archived, read every state of the table, and go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi import HudiTable
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, trips
from tests.slow_cases import slow_cases

#: Each side leaves two of at least four commits active; the metadata table is compacted at every third.
LIMITS = {
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.metadata.compact.max.delta.commits": "3",
    "hoodie.compact.inline.max.delta.commits": "2",
}
WITH_METADATA_TABLE = {"hoodie.metadata.enable": "true"}
NOT_CLEANED = {"hoodie.clean.automatic": "false", "hoodie.clean.commits.retained": "1"}
COPY_ON_WRITE = Kind("copy_on_write")
KINDS = [COPY_ON_WRITE, replace(COPY_ON_WRITE, name="merge_on_read_version_8", table_type="MERGE_ON_READ", version=8, order_by=("amount",))]


class Story:
    """A table, its rows of now, and the rows of the time of each of its commits."""

    def __init__(self, kind: Kind, reference: ReferenceHudi, path: Path) -> None:
        self.kind, self.reference, self.path = kind, reference, path
        self.model = Model(kind.order_by)
        self.past: dict[str, list[dict[str, Any]]] = {}

    def step(self, amount: int, *, by_reference: bool = False) -> None:
        rows = self.model.upsert(trips(amount % 4, amount % 4 + 5, amount=amount))
        if by_reference:
            self.reference.write(
                self.path, rows, "append", self.kind.reference_options("upsert") | LIMITS | NOT_CLEANED | WITH_METADATA_TABLE
            )
        else:
            HudiTable.open(self.path).upsert(rows, options=LIMITS | NOT_CLEANED)
        self.past[self._commits()[-1]] = self.model.sorted()

    def check(self, *, by_reference: bool = False) -> None:
        """Now and every time before is read, by Apache Hudi too if asked for, and pyhudi's history names each commit once."""
        table = HudiTable.open(self.path)
        for time, rows in self.past.items():
            assert data(table.to_arrow(as_of=time, meta_columns=True)) == rows, time
        assert len(self._commits()) == len(set(self._commits()))
        assert set(self.past) <= set(self._commits())
        assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []
        if by_reference:
            assert_both_read(self.reference, self.path, self.model.sorted())
            oldest = next(iter(self.past))
            for enabled in ("true", "false"):
                result = self.reference.read(self.path, as__of__instant=oldest, hoodie__metadata__enable=enabled)
                assert data(result) == self.past[oldest]

    def archived(self) -> set[str]:
        """The instants that are archived, of which Apache Hudi and pyhudi say the same."""
        named = f"CALL show_timeline(path => '{self.path}', showArchived => true, limit => 1000)"
        by_reference = {row["instant_time"] for row in self.reference.sql(named).to_pylist() if row["timeline_type"] == "ARCHIVED"}
        timeline = {name.partition("_")[0].partition(".")[0] for name in self._active()}
        by_pyhudi = set(HudiTable.open(self.path).history()["requested"].to_pylist()) - timeline
        assert by_reference - timeline == by_pyhudi
        return by_pyhudi

    def metadata_table_was_archived(self) -> int:
        """How often the archive of the metadata table was added to."""
        return int((self.path / ".hoodie" / "metadata" / ".hoodie" / "timeline" / "history" / "_version_").read_text())

    def _active(self) -> list[str]:
        return [file.name for file in (self.path / ".hoodie" / "timeline").iterdir() if file.is_file() and not file.name.startswith(".")]

    def _commits(self) -> list[str]:
        history = HudiTable.open(self.path).history()
        wrote = pc.is_in(history["action"], pa.array(["commit", "deltacommit"]))
        rows: list[str] = history.filter(pc.and_(wrote, pc.equal(history["state"], "completed")))["requested"].to_pylist()
        return rows


@pytest.mark.parametrize("kind", [KINDS[0], pytest.param(KINDS[1], marks=pytest.mark.slow)], ids=lambda kind: kind.name)
def test_both_sides_archive_one_table_in_turn(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    story = Story(kind, reference, tmp_path / "t")
    kind.create(story.path)
    for amount in range(1, 8):
        story.step(amount)
    by_pyhudi = story.archived()
    assert by_pyhudi
    archived_times = story.metadata_table_was_archived()
    story.check()
    for amount in (8, 9):
        story.step(amount, by_reference=True)
    by_both = story.archived()
    assert story.metadata_table_was_archived() > archived_times
    assert by_pyhudi < by_both
    story.check()
    for amount in (10, 11, 12):
        story.step(amount)
    assert by_both < story.archived()
    story.check(by_reference=True)


#: Nothing but the calls of the test archives or compacts.
BY_HAND = {
    "hoodie.keep.min.commits": "3",
    "hoodie.keep.max.commits": "4",
    "hoodie.metadata.compact.max.delta.commits": "1",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.clean.automatic": "false",
    "hoodie.clean.commits.retained": "1",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
}


@pytest.mark.parametrize("action", slow_cases(["restore", "indexing"], ["indexing"]))
def test_apache_hudi_reads_the_rows_of_a_compaction_where_restores_and_index_builds_are_archived(
    action: str, reference: ReferenceHudi, tmp_path: Path
) -> None:
    """With either as the first active action, it merged log files of archived commits into a base file that was compacted from them."""
    path, name = tmp_path / "t", f"archived_{action}"
    kind = Kind(name, table_type="MERGE_ON_READ")
    model = Model()
    kind.create(path)

    def upsert(amount: int, first: int = 0) -> None:
        HudiTable.open(path).upsert(model.upsert(trips(first, first + 5, amount=amount)), options=BY_HAND)

    upsert(1)
    services = HudiTable.open(path).services
    if action == "restore":
        saved = services.savepoint()
        HudiTable.open(path).upsert(trips(0, 5, amount=2), options=BY_HAND)
        services.restore(to=saved.instant)
        services.delete_savepoint(saved.instant)
    else:
        services.index("bloom_filters")
    upsert(3)
    upsert(4)
    services.compact(options=BY_HAND)
    upsert(5, first=20)
    archived = services.archive(options=BY_HAND)
    assert action in {instant.action for instant in archived.instants}
    assert_both_read(reference, path, model.sorted())

    # A restore is archived as the rollback that it was: at a row of another kind Apache Hudi's downgrade fails half-way.
    archived_as = ["rollback"] if action == "restore" else []
    assert [name for name in HudiTable.open(path).history()["action"].to_pylist() if name in ("rollback", action)] == archived_as
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    timeline = reference.sql(f"CALL show_timeline(table => '{name}', showArchived => true, limit => 100)").to_pylist()
    assert [row["action"] for row in timeline if row["action"] in ("rollback", action)] == archived_as
    for version in ("EIGHT", "SIX"):
        statement = f"CALL downgrade_table(table => '{name}', to_version => '{version}')"
        assert reference.sql(f"REFRESH TABLE {name}", statement).to_pylist() == [{"result": True}]
    assert_both_read(reference, path, model.sorted())
    HudiTable.open(path).services.upgrade(9)
    assert_both_read(reference, path, model.sorted())
