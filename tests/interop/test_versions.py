"""Apache Hudi reads and writes tables that pyhudi upgraded and downgraded; both archive the timelines of version 6."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips
from tests.slow_cases import slow_cases

CHANGES = [
    pytest.param("COPY_ON_WRITE", (6, 9), id="copy on write 6 to 9"),
    pytest.param("MERGE_ON_READ", (6, 8, 9), id="merge on read 6 to 8 to 9", marks=pytest.mark.slow),
    pytest.param("MERGE_ON_READ", (9, 6, 9), id="merge on read 9 to 6 and back"),
    pytest.param("COPY_ON_WRITE", (9, 8, 6), id="copy on write 9 to 8 to 6", marks=pytest.mark.slow),
]
TWO_STAY = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}


@pytest.mark.parametrize(("table_type", "versions"), CHANGES)
def test_apache_hudi_continues_a_table_whose_version_pyhudi_changed(
    reference: ReferenceHudi, tmp_path: Path, table_type: str, versions: tuple[int, ...]
) -> None:
    path = tmp_path / f"moved_{'_'.join(map(str, versions))}_{table_type.lower()}"
    kind = Kind("moved", version=versions[0], order_by=("amount",), table_type=table_type)
    model = Model(kind.order_by)
    kind.create(path).upsert(model.upsert(trips(0, 8)))
    reference.write(path, model.upsert(trips(4, 10, amount=2)), "append", kind.reference_options("upsert"))
    for step, to in enumerate(versions[1:]):
        services = HudiTable.open(path).services
        (services.upgrade if to > versions[step] else services.downgrade)(to)
        assert_both_read(reference, path, model.sorted())
        options = kind.reference_options("upsert") | {"hoodie.write.table.version": str(to)}
        reference.write(path, model.upsert(trips(6, 12 + step, amount=3 + step)), "append", options)
        assert HudiTable.open(path).config.version == to
        assert_both_read(reference, path, model.sorted())
        HudiTable.open(path).upsert(model.upsert(trips(2, 7, amount=10 + step)))
        assert_both_read(reference, path, model.sorted())


def test_either_side_archives_a_timeline_of_version_6_on(reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "archived_by_both"
    kind = Kind("archived_by_both", version=6, order_by=("amount",))
    model = Model(kind.order_by)
    kind.create(path)
    for number in range(5):
        HudiTable.open(path).upsert(model.upsert(trips(number, number + 3, amount=number)), options=TWO_STAY)
    for number in range(5, 9):
        options = kind.reference_options("upsert") | TWO_STAY
        reference.write(path, model.upsert(trips(number, number + 3, amount=number)), "append", options)
    for number in range(9, 13):
        HudiTable.open(path).upsert(model.upsert(trips(number, number + 3, amount=number)), options=TWO_STAY)
    assert_both_read(reference, path, model.sorted())
    commits = [row["requested"] for row in HudiTable.open(path).history().to_pylist() if row["action"] == "commit"]
    assert len(commits) == 13
    reference.sql(f"CREATE TABLE archived_by_both USING hudi LOCATION '{path}'")
    archived = reference.sql("CALL show_archived_commits(table => 'archived_by_both', limit => 100, start_ts => '2000', end_ts => '3000')")
    active = {file.name.partition(".")[0] for file in (path / ".hoodie").glob("*.commit")}
    assert sorted(archived["commit_time"].to_pylist()) == sorted(set(commits) - active)


@pytest.mark.parametrize("table_type", slow_cases(["COPY_ON_WRITE", "MERGE_ON_READ"], ["MERGE_ON_READ"]))
def test_apache_hudi_upgrades_a_table_again_that_it_had_upgraded_and_pyhudi_downgraded(
    reference: ReferenceHudi, tmp_path: Path, table_type: str
) -> None:
    """Its upgrade leaves an empty record in requested commits, in Avro; in version 6 that is JSON, and its next upgrade reads it."""
    path, name = tmp_path / "t", f"upgraded_again_{table_type.lower()}"
    kind = Kind(name, version=6, order_by=("amount",), table_type=table_type)
    model = Model(kind.order_by)
    kind.create(path).upsert(model.upsert(trips(0, 8)))
    reference.write(path, model.upsert(trips(4, 10, amount=2)), "append", kind.reference_options("upsert"))
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'", f"CALL upgrade_table(table => '{name}', to_version => 'EIGHT')")
    requested = list((path / ".hoodie" / "timeline").glob("*commit.requested"))
    assert requested
    assert all(file.read_bytes().startswith(b"Obj") for file in requested)
    HudiTable.open(path).services.downgrade(6)
    assert_both_read(reference, path, model.sorted())
    reference.write(path, model.upsert(trips(6, 12, amount=3)), "append", kind.reference_options("upsert"))
    reference.sql(f"REFRESH TABLE {name}", f"CALL upgrade_table(table => '{name}', to_version => 'EIGHT')")
    assert [file.name for file in (path / ".hoodie").glob("[0-9]*")] == []
    assert HudiTable.open(path).config.version == 8
    assert_both_read(reference, path, model.sorted())
