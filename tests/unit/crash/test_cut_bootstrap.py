"""A bootstrap cut at every storage call: readers see all of a commit or nothing, and the same call makes what is missing."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import TableExists, TableNotFound, UnknownOutcomeError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.bootstrap.bootstrap_table import Bootstrap, NewTable, bootstrap_table
from pyhudi.testing.crash_points import Part, crash_points
from tests.bootstrapped import SELECTOR, rides
from tests.unit.crash.tables import CountedIds, StoppedClock, check_at_rest, check_sound, each_part

MIXED = {SELECTOR: "BootstrapRegexModeSelector", f"{SELECTOR}.regex": "oslo", "hoodie.bootstrap.parallelism": "1"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for number, city in enumerate(("oslo", "rome")):
        folder = tmp_path / "plain" / city
        folder.mkdir(parents=True)
        pq.write_table(rides([number], city), folder / "a.parquet")
    return tmp_path / "plain"


def run(storage: Storage, source: Path) -> None:
    clock, ids = StoppedClock(), CountedIds()
    definition = NewTable("rides", ("id",), ("city",), ("ts",), "COPY_ON_WRITE", MIXED)
    bootstrap_table(storage, Bootstrap.of(str(source), definition), clock, lambda: HudiTable(storage, clock=clock, ids=ids), LocalEngine(1))


@each_part
def test_a_bootstrap_cut_anywhere_is_continued_by_the_same_call(source: Path, part: Part) -> None:
    visible = set()
    for cut in crash_points(lambda storage: run(storage, source), MemoryStorage, part=part):
        try:
            table = HudiTable(cut.storage, clock=StoppedClock())
        except TableNotFound:
            assert not cut.returned, cut.point
        else:
            keys = frozenset(table.to_arrow().column("id").to_pylist())
            assert keys in (set(), {"k0"}, {"k0", "k1"}), cut.point
            visible.add(keys)
            check_sound(cut.storage, cut.point)
            if cut.returned or isinstance(cut.error, UnknownOutcomeError):
                assert keys or not cut.returned, cut.point
        try:
            run(cut.storage, source)
        except TableExists:
            assert visible, cut.point
        table = HudiTable(cut.storage, clock=StoppedClock())
        assert sorted(table.to_arrow().column("id").to_pylist()) == ["k0", "k1"], cut.point
        table.upsert(rides([0], "oslo", 5.0, ts=1), {"hoodie.metadata.enable": "false"})
        assert table.to_arrow(filter="id = 'k0'").column("amount").to_pylist() == [5.0]
        check_at_rest(cut.storage, cut.point)
    assert visible == {frozenset(), frozenset({"k0"}), frozenset({"k0", "k1"})}


def test_the_next_writer_rolls_back_an_interrupted_bootstrap(source: Path) -> None:
    for cut in crash_points(lambda storage: run(storage, source), MemoryStorage, part=Part(1, 12)):
        try:
            table = HudiTable(cut.storage, clock=StoppedClock())
        except TableNotFound:
            continue
        before = sorted(table.to_arrow().column("id").to_pylist())
        table.upsert(rides([7], "oslo"))
        assert sorted(table.to_arrow().column("id").to_pylist()) == sorted([*before, "k7"]), cut.point
        check_at_rest(cut.storage, cut.point)
        with pytest.raises(TableExists):
            run(cut.storage, source)
