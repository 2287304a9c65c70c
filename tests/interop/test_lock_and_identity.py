"""What pyhudi adds to a table for its own safety does not disturb Apache Hudi, and what Apache Hudi changes on purpose is no damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips


def test_upgrade_by_apache_hudi_is_no_damage(reference: ReferenceHudi, tmp_path: Path) -> None:
    """Its write brings the table from version 8 to 9, and commits without a note of the properties."""
    old, new = Kind("old", version=8, order_by=("amount",)), Kind("new", version=9, order_by=("amount",))
    model = Model(old.order_by)
    table = old.create(tmp_path / "t")
    table.upsert(model.upsert(trips(0, 8)))
    new.reference_writes(reference, tmp_path / "t", "upsert", model.upsert(trips(5, 10, amount=2)))
    assert "hoodie.table.version=9" in (tmp_path / "t/.hoodie/hoodie.properties").read_text().splitlines()
    assert_both_read(reference, tmp_path / "t", model.sorted())
    HudiTable.open(tmp_path / "t").upsert(model.upsert(trips(9, 14, amount=3)))
    assert_both_read(reference, tmp_path / "t", model.sorted())


def test_table_with_a_recorded_lock_and_accepted_properties_is_read_and_written(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind = Kind("elsewhere")
    model = Model(kind.order_by)
    kind.create(tmp_path / "t")
    options = {LOCK_FILE_OPTION: str(tmp_path / "lock"), "auto_mkdir": "true"}
    table = HudiTable.open(f"local://{tmp_path}/t", options)
    table.upsert(model.upsert(trips(0, 8)))
    table.inspect.health(fix_properties=True)
    assert_both_read(reference, tmp_path / "t", model.sorted())
    kind.reference_writes(reference, tmp_path / "t", "upsert", model.upsert(trips(5, 10, amount=2)))
    for checksum in (tmp_path / "t" / ".hoodie").rglob(".*.crc"):  # of Hadoop's local file system, which object stores do not have
        checksum.unlink()
    HudiTable.open(f"local://{tmp_path}/t", options).upsert(model.upsert(trips(9, 14, amount=3)))
    assert_both_read(reference, tmp_path / "t", model.sorted())


@pytest.mark.parametrize("version", [6, 8, 9])
def test_table_that_apache_hudi_only_made_is_empty_and_one_without_its_timeline_is_not(
    reference: ReferenceHudi, tmp_path: Path, version: int
) -> None:
    path = tmp_path / "t"
    reference.sql(
        f"CREATE TABLE made_{version} (id BIGINT, v BIGINT) USING hudi TBLPROPERTIES (primaryKey='id') LOCATION '{path}'",
        conf={"hoodie.write.table.version": str(version)},
    )
    assert HudiTable.open(path).to_arrow().num_rows == 0
    HudiTable.open(path).upsert([{"id": 1, "v": 1}])
    assert reference.read(path).num_rows == 1
    if version > 6:
        shutil.rmtree(path / ".hoodie" / "timeline")
        with pytest.raises(CorruptTableError, match="shows no instant"):
            HudiTable.open(path).to_arrow()


@pytest.mark.parametrize(("version", "table_type"), [(9, "COPY_ON_WRITE"), pytest.param(8, "MERGE_ON_READ", marks=pytest.mark.slow)])
def test_writes_that_apache_hudi_restores_and_rolls_back_are_not_missing(
    reference: ReferenceHudi, tmp_path: Path, version: int, table_type: str
) -> None:
    """Our commits note the completed writes before them, some of which Apache Hudi takes off the timeline."""
    path, kind, name = tmp_path / "t", Kind("restored", version=version, table_type=table_type), f"restored_{version}"
    table = kind.create(path)
    for number in range(4):
        table.upsert(trips(number, number + 1))
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    times = [row["requested"] for row in table.history().to_pylist() if row["action"] in {"commit", "deltacommit"}]
    conf = {"hoodie.write.table.version": str(version)}
    reference.sql(f"CALL create_savepoint('{name}', '{times[1]}')", f"CALL rollback_to_savepoint('{name}', '{times[1]}')", conf=conf)
    assert HudiTable.open(path).to_arrow().num_rows == 2
    HudiTable.open(path).upsert(trips(7, 9))
    HudiTable.open(path).upsert(trips(9, 10))
    last = HudiTable.open(path).history().to_pylist()[-1]["requested"]
    reference.sql(f"CALL rollback_to_instant('{name}', '{last}')", conf=conf)
    assert HudiTable.open(path).to_arrow().num_rows == 4
    HudiTable.open(path).upsert(trips(10, 11))
    assert HudiTable.open(path).to_arrow().num_rows == reference.read(path).num_rows == 5
