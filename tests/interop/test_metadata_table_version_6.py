"""Metadata tables of version 6: Apache Hudi reads, checks, rolls back, compacts and continues with ours, and we with its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop import metadata_table_recipes as recipes
from tests.interop.failing import fail_commit
from tests.interop.kinds import HIVE_STYLE, Kind, Model
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, trips
from tests.interop.test_metadata_table import kill_a_write

INDEXES = recipes.INDEXES | {"hoodie.compact.inline": "false"}
SESSION = recipes.SESSION | {"hoodie.compact.inline": "false", "hoodie.enable.data.skipping": "true"}
COPY_ON_WRITE = Kind("copy_on_write", version=6, partition_by=())
MERGE_ON_READ = Kind("merge_on_read", version=6, order_by=("amount",), table_type="MERGE_ON_READ", options=HIVE_STYLE)
KIND = pytest.mark.parametrize(
    "kind", [pytest.param(COPY_ON_WRITE, marks=pytest.mark.slow), MERGE_ON_READ], ids=["copy_on_write", "merge_on_read"]
)
CONDITIONS = ("id = 'trip-7'", "price > 5 AND amount < 3")


def check(reference: ReferenceHudi, path: Path, name: str, model: Model) -> None:
    """Both read the rows of the model by the metadata table, filter alike by its indexes, and find it right."""
    table = HudiTable.open(path)
    assert data(table.to_arrow()) == model.sorted()
    assert data(reference.read(path, hoodie__metadata__enable="true", hoodie__enable__data__skipping="true")) == model.sorted()
    rows = reference.sql(f"CALL validate_metadata_table_files(table => '{name}', verbose => true)", conf=SESSION).to_pylist()
    assert rows
    assert all(row["is_present_in_fs"] and row["is_present_in_metadata"] and row["fs_size"] == row["metadata_size"] for row in rows)
    assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []
    for condition in CONDITIONS:
        by_reference = reference.sql(f"REFRESH TABLE {name}", f"SELECT id FROM {name} WHERE {condition}", conf=SESSION)
        assert sorted(by_reference["id"].to_pylist()) == sorted(table.to_arrow(columns=["id"], filter=condition)["id"].to_pylist()), (
            condition
        )


def indexed(kind: Kind) -> Kind:
    """The same for Apache Hudi's writes, with every index on."""
    return replace(kind, options={**kind.options, **INDEXES})


def compactions(path: Path) -> int:
    return len(list((path / ".hoodie/metadata/.hoodie").glob("[0-9]*.commit")))


@KIND
def test_apache_hudi_reads_by_it_rolls_back_and_continues(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path, name, model = tmp_path / "t", f"mdt6_{kind.name}", Model(kind.order_by)
    kind.create(path).insert(model.upsert(trips(0, 8)), INDEXES)
    for turn in range(4):
        HudiTable.open(path).upsert(model.upsert(trips(turn, turn + 3, amount=turn + 1)), INDEXES)
    assert compactions(path) == 2
    indexed(kind).reference_writes(reference, path, "upsert", model.upsert(trips(6, 12, amount=10)))
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    HudiTable.open(path).delete(model.delete(trips(4, 5, amount=99)), options=INDEXES)
    check(reference, path, name, model)
    kill_a_write(path)
    indexed(kind).reference_writes(reference, path, "upsert", model.upsert(trips(5, 7, amount=20)))
    fail_commit(reference, path, trips(2, 9, amount=60), indexed(kind).reference_options("upsert"))
    HudiTable.open(path).upsert(model.upsert(trips(6, 8, amount=70)), INDEXES)
    check(reference, path, name, model)


def test_each_side_compacts_the_table_beside_it(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind, path, name, model = MERGE_ON_READ, tmp_path / "t", "mdt6_compacted", Model(("amount",))
    indexed(kind).reference_writes(reference, path, "upsert", model.upsert(trips(0, 8)))
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    once = {"hoodie.compact.inline.max.delta.commits": "1"}
    HudiTable.open(path).upsert(model.upsert(trips(0, 4, amount=1)), INDEXES)
    reference.sql(f"CALL run_compaction(op => 'schedule', path => '{path}')", conf=SESSION | once)
    HudiTable.open(path).upsert(model.upsert(trips(3, 6, amount=2)), INDEXES)
    reference.sql(f"CALL run_compaction(op => 'run', path => '{path}')", conf=SESSION)
    check(reference, path, name, model)
    HudiTable.open(path).upsert(model.upsert(trips(2, 7, amount=3)), INDEXES)
    HudiTable.open(path).services.compact(options=once)
    indexed(kind).reference_writes(reference, path, "upsert", model.upsert(trips(1, 9, amount=4)))
    check(reference, path, name, model)


def test_apache_hudi_upgrades_it_with_its_table(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind, path, model = COPY_ON_WRITE, tmp_path / "t", Model()
    usual = INDEXES | {"hoodie.metadata.compact.max.delta.commits": "10"}
    kind.create(path).insert(model.upsert(trips(0, 6)), usual)
    replace(kind, version=9, options=usual).reference_writes(reference, path, "upsert", model.upsert(trips(3, 9, amount=1)))
    HudiTable.open(path).upsert(model.upsert(trips(5, 9, amount=2)))
    assert HudiTable.open(path).config.version == 9
    assert data(reference.read(path, hoodie__metadata__enable="true")) == data(HudiTable.open(path).to_arrow()) == model.sorted()
    assert HudiTable.open(path).inspect.health().to_pylist() == []
