"""What Apache Hudi changes in a table's properties without a commit does not lock pyhudi out, or pyhudi says how to accept it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips

VERSIONS = {6: "SIX", 8: "EIGHT", 9: "NINE"}
WITHOUT_METADATA_TABLE = {"hoodie.metadata.enable": "false"}
CUSTOM = {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.CustomKeyGenerator"}


def prepare(reference: ReferenceHudi, path: Path, kind: Kind, options: dict[str, str]) -> Model:
    """Make a table of two commits by pyhudi, which Apache Hudi's SQL knows by the folder's name."""
    model = Model(kind.order_by)
    table = kind.create(path)
    table.upsert(model.upsert(trips(0, 8)), options=options)
    table.upsert(model.upsert(trips(3, 10, amount=2)), options=options)
    reference.sql(f"CREATE TABLE {path.name} USING hudi LOCATION '{path}'")
    return model


def move(reference: ReferenceHudi, path: Path, old: int, new: int, options: dict[str, str]) -> None:
    call = "upgrade_table" if new > old else "downgrade_table"
    reference.sql(f"CALL {call}(table => '{path.name}', to_version => '{VERSIONS[new]}')", conf=options)
    assert f"hoodie.table.version={new}" in (path / ".hoodie/hoodie.properties").read_text().splitlines()


@pytest.mark.parametrize(("old", "new"), [(9, 8), (8, 9), (9, 6), (6, 9)])
def test_changed_version_is_accepted_where_the_metadata_table_has_it_too(
    reference: ReferenceHudi, tmp_path: Path, old: int, new: int
) -> None:
    path = tmp_path / f"moved_{old}_{new}"
    model = prepare(reference, path, Kind("moved", version=old, order_by=("amount",)), {})
    move(reference, path, old, new, {})
    assert_both_read(reference, path, model.sorted())
    HudiTable.open(path).upsert(model.upsert(trips(9, 12, amount=3)))
    assert_both_read(reference, path, model.sorted())


@pytest.mark.parametrize(("old", "new"), [(9, 8), (8, 9), (9, 6), (6, 9)])
def test_changed_version_without_a_metadata_table_is_accepted_on_request(
    reference: ReferenceHudi, tmp_path: Path, old: int, new: int
) -> None:
    """Nothing tells it from damage where no commit of Apache Hudi came with it."""
    path = tmp_path / f"alone_{old}_{new}"
    model = prepare(reference, path, Kind("alone", version=old, order_by=("amount",)), WITHOUT_METADATA_TABLE)
    move(reference, path, old, new, WITHOUT_METADATA_TABLE)
    with pytest.raises(CorruptTableError, match=rf"version is '{new}' and was '{old}'.*health\(fix_properties=True\)"):
        HudiTable.open(path).to_arrow()
    HudiTable.open(path).inspect.health(fix_properties=True)
    assert_both_read(reference, path, model.sorted())
    HudiTable.open(path).upsert(model.upsert(trips(9, 12, amount=3)), options=WITHOUT_METADATA_TABLE)
    assert_both_read(reference, path, model.sorted())


def test_upgrade_of_a_custom_generator_is_no_damage(reference: ReferenceHudi, tmp_path: Path) -> None:
    """From version 8 on its partition fields have their kinds in the properties."""
    path = tmp_path / "moved_custom"
    kind = Kind("moved_custom", version=6, order_by=("amount",), partition_by=("city:SIMPLE",), options=CUSTOM)
    model = prepare(reference, path, kind, {})
    move(reference, path, 6, 9, {})
    HudiTable.open(path).upsert(model.upsert(trips(9, 12, amount=3)))
    assert_both_read(reference, path, model.sorted())


def test_set_table_properties_changes_the_catalog_alone(reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "with_settings"
    model = prepare(reference, path, Kind("with_settings", order_by=("amount",)), {})
    for setting in ("'hoodie.table.ordering.fields'='price'", "'hoodie.table.recordkey.fields'='price'", "primaryKey='price'"):
        reference.sql(f"ALTER TABLE {path.name} SET TBLPROPERTIES ({setting})")
    HudiTable.open(path).upsert(model.upsert(trips(9, 12, amount=3)))
    assert_both_read(reference, path, model.sorted())


def test_damage_after_a_commit_by_apache_hudi_is_noticed(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, kind = tmp_path / "damaged", Kind("damaged")
    model = prepare(reference, path, kind, {})
    with_metadata = replace(kind, options={"hoodie.metadata.enable": "true"})
    with_metadata.reference_writes(reference, path, "upsert", model.upsert(trips(5, 10, amount=3)))
    assert_both_read(reference, path, model.sorted())
    properties = path / ".hoodie/hoodie.properties"
    stored = properties.read_text()
    for old, new in (("recordkey.fields=id", "recordkey.fields=ie"), ("table.version=9", "table.version=8")):
        properties.write_text(stored.replace(old, new))
        with pytest.raises(CorruptTableError, match=r"hoodie\.properties.* was changed since"):
            HudiTable.open(path).to_arrow()
