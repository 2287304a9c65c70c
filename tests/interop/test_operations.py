"""Each operation of one side is understood and continued by the other: replaced groups, dropped partitions, history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.spec.options import resolve
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.version import recreate_table
from pyhudi.table.version.recreate_table import NewDefinition
from tests.interop.kinds import HIVE_STYLE, Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, trips
from tests.not_none import not_none

KIND = Kind("partitioned", options=HIVE_STYLE)


def by_id(*tables: pa.Table) -> list[dict[str, Any]]:
    return sorted((row for table in tables for row in table.to_pylist()), key=lambda row: row["id"])


def completed(path: Path) -> list[str]:
    """Request times of the completed commits, oldest first."""
    return sorted(file.name.split("_")[0] for file in (path / ".hoodie/timeline").glob("[0-9]*_*commit"))


def test_partitions_overwritten_by_pyhudi_are_continued(reference: ReferenceHudi, tmp_path: Path) -> None:
    table = KIND.create(tmp_path / "t")
    table.insert(trips(0, 6))
    table.overwrite(trips(6, 7), dynamic=True)  # oslo alone
    retained = pa.concat_tables([trips(number, number + 1) for number in (1, 2, 4, 5)])
    assert_both_read(reference, tmp_path / "t", by_id(retained, trips(6, 7)))
    KIND.reference_writes(reference, tmp_path / "t", "upsert", trips(6, 7, amount=1))
    KIND.reference_writes(reference, tmp_path / "t", "insert", trips(9, 10))
    HudiTable.open(tmp_path / "t").delete(trips(9, 10))
    assert_both_read(reference, tmp_path / "t", by_id(retained, trips(6, 7, amount=1)))


@pytest.mark.parametrize("operation", ["insert_overwrite", "insert_overwrite_table"])
def test_groups_replaced_by_apache_hudi_are_continued(operation: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    KIND.create(tmp_path / "t").insert(trips(0, 6))
    KIND.reference_writes(reference, tmp_path / "t", operation, trips(6, 7))
    retained = [trips(number, number + 1) for number in (1, 2, 4, 5)] if operation == "insert_overwrite" else []
    assert_both_read(reference, tmp_path / "t", by_id(*retained, trips(6, 7)))
    HudiTable.open(tmp_path / "t").upsert(trips(3, 7, amount=1))
    expected = {row["id"]: row for row in by_id(*retained)} | {row["id"]: row for row in by_id(trips(3, 7, amount=1))}
    assert_both_read(reference, tmp_path / "t", [expected[key] for key in sorted(expected)])


def test_a_table_overwritten_by_pyhudi_is_continued(reference: ReferenceHudi, tmp_path: Path) -> None:
    table = KIND.create(tmp_path / "t")
    table.insert(trips(0, 6))
    table.overwrite(trips(4, 8, amount=1))
    assert_both_read(reference, tmp_path / "t", by_id(trips(4, 8, amount=1)))
    KIND.reference_writes(reference, tmp_path / "t", "upsert", trips(0, 5, amount=2))
    assert_both_read(reference, tmp_path / "t", by_id(trips(0, 5, amount=2), trips(5, 8, amount=1)))


def _insert(storage: Storage, rows: pa.Table) -> None:
    HudiTable(storage).insert(rows)


@pytest.mark.parametrize("is_finished", [True, False], ids=["finished", "cut off before the old files are deleted"])
def test_a_table_created_again_by_pyhudi_is_continued(
    is_finished: bool, reference: ReferenceHudi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t"
    old = HudiTable.create(path, pa.schema({"id": pa.string(), "city": pa.int64()}), name="old", keys=["id"], partition_by=["city"])
    old.insert([{"id": "k0", "city": 1}, {"id": "k1", "city": 2}])
    KIND.create(tmp_path / "like")
    like = HudiTable.open(tmp_path / "like")
    fields = (like.config.record_key_fields, like.config.partition_fields, like.config.ordering_fields)
    new = NewDefinition(like.schema, like.config.name, *fields, like.config.table_type, HIVE_STYLE)
    if not is_finished:
        monkeypatch.setattr(recreate_table, "recover_recreation", lambda *_: None)
    recreate_table.recreate_table(old, new, resolve({}), lambda storage: _insert(storage, trips(0, 6)))
    assert (path / ".hoodie" / "recreate").exists() != is_finished
    assert_both_read(reference, path, by_id(trips(0, 6)))
    KIND.reference_writes(reference, path, "upsert", trips(4, 8, amount=1))
    assert_both_read(reference, path, by_id(trips(0, 4), trips(4, 8, amount=1)))
    HudiTable.open(path).upsert(trips(0, 2, amount=2))
    assert not (path / ".hoodie" / "recreate").exists()
    assert_both_read(reference, path, by_id(trips(0, 2, amount=2), trips(2, 4), trips(4, 8, amount=1)))
    KIND.reference_writes(reference, path, "upsert", trips(7, 8, amount=3))
    assert_both_read(reference, path, by_id(trips(0, 2, amount=2), trips(2, 4), trips(4, 7, amount=1), trips(7, 8, amount=3)))


def test_a_partition_dropped_by_pyhudi_takes_new_rows_of_apache_hudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    KIND.create(tmp_path / "t").insert(trips(0, 6))
    HudiTable.open(tmp_path / "t").delete(partitions=["city=oslo"])
    retained = [trips(number, number + 1) for number in (1, 2, 4, 5)]
    assert_both_read(reference, tmp_path / "t", by_id(*retained))
    KIND.reference_writes(reference, tmp_path / "t", "upsert", trips(0, 1, amount=7))
    assert_both_read(reference, tmp_path / "t", by_id(*retained, trips(0, 1, amount=7)))


def test_a_record_moved_to_another_partition_by_pyhudi_is_there_once(reference: ReferenceHudi, tmp_path: Path) -> None:
    KIND.create(tmp_path / "t").insert(trips(0, 6))
    moving_trips = trips(0, 1).set_column(1, "city", pa.array(["lima"]))
    HudiTable.open(tmp_path / "t").upsert(moving_trips, {"hoodie.index.type": "GLOBAL_SIMPLE"})
    assert_both_read(reference, tmp_path / "t", by_id(moving_trips, trips(1, 6)))
    reference.write(tmp_path / "t", trips(0, 1), "append", KIND.reference_options("upsert") | {"hoodie.index.type": "GLOBAL_SIMPLE"})
    assert_both_read(reference, tmp_path / "t", by_id(trips(0, 6)))


def test_a_partition_dropped_by_apache_hudi_takes_new_rows_of_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    KIND.create(tmp_path / "t").insert(trips(0, 6))
    reference.sql(
        f"CREATE TABLE dropped USING hudi LOCATION '{tmp_path / 't'}'",
        "ALTER TABLE dropped DROP PARTITION (city='oslo')",
    )
    retained = [trips(number, number + 1) for number in (1, 2, 4, 5)]
    assert_both_read(reference, tmp_path / "t", by_id(*retained))
    HudiTable.open(tmp_path / "t").upsert(trips(0, 1, amount=7))
    assert_both_read(reference, tmp_path / "t", by_id(*retained, trips(0, 1, amount=7)))


def test_bulk_inserts_of_both_sides_are_updated_by_the_other(reference: ReferenceHudi, tmp_path: Path) -> None:
    KIND.create(tmp_path / "t").bulk_insert(trips(0, 4))
    KIND.reference_writes(reference, tmp_path / "t", "bulk_insert", trips(4, 8))
    KIND.reference_writes(reference, tmp_path / "t", "upsert", trips(2, 4, amount=1))
    HudiTable.open(tmp_path / "t").upsert(trips(4, 6, amount=1))
    assert_both_read(reference, tmp_path / "t", by_id(trips(0, 2), trips(2, 6, amount=1), trips(6, 8)))


def test_a_file_emptied_by_one_side_takes_rows_of_the_other(reference: ReferenceHudi, tmp_path: Path) -> None:
    KIND.create(tmp_path / "t").insert(trips(0, 6))
    HudiTable.open(tmp_path / "t").delete(pa.concat_tables([trips(0, 1), trips(3, 4)]))  # all of oslo
    assert_both_read(reference, tmp_path / "t", by_id(trips(1, 3), trips(4, 6)))
    KIND.reference_writes(reference, tmp_path / "t", "insert", trips(6, 7))
    KIND.reference_writes(reference, tmp_path / "t", "delete", pa.concat_tables([trips(1, 2), trips(4, 5)]))  # all of lima
    HudiTable.open(tmp_path / "t").insert(trips(7, 8))
    assert_both_read(reference, tmp_path / "t", by_id(trips(2, 3), trips(5, 8)))


def test_apache_hudi_counts_what_pyhudi_did(reference: ReferenceHudi, tmp_path: Path) -> None:
    table = KIND.create(tmp_path / "t")
    table.insert(trips(0, 6))
    table.upsert(trips(4, 9, amount=1))
    table.delete(trips(0, 3))
    reference.sql(f"CREATE TABLE counted USING hudi LOCATION '{tmp_path / 't'}'")
    commits = reference.sql("CALL show_commits(table => 'counted', limit => 10)").to_pylist()
    counts = [(row["total_records_written"], row["total_update_records_written"]) for row in commits]
    assert counts == [(6, 0), (9, 2), (6, 0)]


def test_groups_clustered_by_apache_hudi_are_continued_by_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    KIND.create(tmp_path / "t").insert(trips(0, 6))
    KIND.reference_writes(reference, tmp_path / "t", "upsert", trips(4, 8, amount=1))
    reference.sql(f"CALL run_clustering(path => '{tmp_path / 't'}', order => 'price')")
    assert_both_read(reference, tmp_path / "t", by_id(trips(0, 4), trips(4, 8, amount=1)))
    HudiTable.open(tmp_path / "t").upsert(trips(7, 9, amount=2))
    assert_both_read(reference, tmp_path / "t", by_id(trips(0, 4), trips(4, 7, amount=1), trips(7, 9, amount=2)))


def test_both_see_the_same_past(reference: ReferenceHudi, tmp_path: Path) -> None:
    table = KIND.create(tmp_path / "t")
    table.insert(trips(0, 4))
    KIND.reference_writes(reference, tmp_path / "t", "upsert", trips(2, 6, amount=1))
    HudiTable.open(tmp_path / "t").delete(trips(0, 3))
    for instant in completed(tmp_path / "t"):
        by_reference = reference.read(tmp_path / "t", as__of__instant=instant)
        assert data(HudiTable.open(tmp_path / "t").to_arrow(as_of=instant)) == data(by_reference)


def test_apache_hudi_reads_incrementally_what_pyhudi_committed(reference: ReferenceHudi, tmp_path: Path) -> None:
    table = KIND.create(tmp_path / "t")
    first = table.insert(trips(0, 4))
    table.upsert(trips(3, 6, amount=1))
    options = {
        "hoodie__datasource__query__type": "incremental",
        "hoodie__datasource__read__begin__instanttime": not_none(first.completed),
    }
    assert data(reference.read(tmp_path / "t", **options)) == by_id(trips(3, 6, amount=1))


def test_apache_hudi_cleans_and_archives_commits_of_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model()
    table = KIND.create(tmp_path / "t")
    for step in range(6):
        table.upsert(model.upsert(trips(0, 3 + step, amount=step)))
    keep = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    options = KIND.reference_options("upsert") | keep
    for step in range(6, 8):
        reference.write(tmp_path / "t", model.upsert(trips(0, 2, amount=step)), "append", options)
    assert list((tmp_path / "t/.hoodie/timeline/history").glob("*.parquet"))
    assert list((tmp_path / "t/.hoodie/timeline").glob("*.clean"))
    assert_both_read(reference, tmp_path / "t", model.sorted())
    HudiTable.open(tmp_path / "t").upsert(model.upsert(trips(5, 9, amount=9)))
    assert_both_read(reference, tmp_path / "t", model.sorted())


def test_apache_hudi_restores_a_table_of_pyhudi_to_a_savepoint(reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    table = KIND.create(path)
    table.insert(trips(0, 4))
    instant = table.upsert(trips(3, 6, amount=1)).instant
    reference.sql(f"CALL create_savepoint(path => '{path}', commit_time => '{instant}')")
    HudiTable.open(path).upsert(trips(0, 9, amount=2))
    reference.sql(f"CALL rollback_to_savepoint(path => '{path}', instant_time => '{instant}')")
    assert_both_read(reference, path, by_id(trips(0, 3), trips(3, 6, amount=1)))
    HudiTable.open(path).upsert(trips(5, 7, amount=3))
    assert_both_read(reference, path, by_id(trips(0, 3), trips(3, 5, amount=1), trips(5, 7, amount=3)))


def test_apache_hudi_adds_its_metadata_table_to_a_table_of_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    """Its default settings: file listing, column and partition statistics, taken from the footers that pyhudi wrote."""
    path = tmp_path / "t"
    KIND.create(path).insert(trips(0, 6), {"hoodie.metadata.enable": "false"})
    assert not (path / ".hoodie/metadata").exists()
    options = KIND.reference_options("upsert") | {"hoodie.metadata.enable": "true"}
    reference.write(path, trips(4, 8, amount=1), "append", options)
    assert (path / ".hoodie/metadata").exists()
    by_statistics = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
    reference.sql(f"CREATE TABLE with_metadata USING hudi LOCATION '{path}'")
    result = reference.sql("SELECT id, city, amount, price FROM with_metadata WHERE price > 5", conf=by_statistics)
    assert data(result) == by_id(trips(5, 8, amount=1))
    assert_both_read(reference, path, by_id(trips(0, 4), trips(4, 8, amount=1)))
    HudiTable.open(path).upsert(trips(0, 1, amount=2))
    assert_both_read(reference, path, by_id(trips(0, 1, amount=2), trips(1, 4), trips(4, 8, amount=1)))
