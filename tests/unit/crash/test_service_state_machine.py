"""A table's random life with its services and readers of the past, against a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from pyhudi.errors import HudiError
from pyhudi.table.hudi_table import HudiTable
from tests.unit.crash.service_machine import SERVICES, service_machine
from tests.unit.crash.tables import Driver

SETTINGS = settings(
    max_examples=6,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.generate],  # a failure of so many steps takes minutes to shrink
)
QUIET = {"hoodie.compact.inline": "false", "hoodie.parquet.small.file.limit": "0"}

TestServedRides = service_machine(Driver(written_with=QUIET, metadata_table=True)).TestCase
TestServedRides.settings = SETTINGS
TestServedRidesMergedOnRead = service_machine(Driver(table_type="MERGE_ON_READ", written_with=QUIET, metadata_table=True)).TestCase
TestServedRidesMergedOnRead.settings = SETTINGS
TestServedRidesOfVersion6 = service_machine(Driver(written_with=QUIET, created_with={"hoodie.write.table.version": "6"})).TestCase
TestServedRidesOfVersion6.settings = SETTINGS

#: The longer proofs: each kind of table that services know, in more lives.
LONG = settings(SETTINGS, max_examples=20)
VIRTUAL = {"hoodie.populate.meta.fields": "false"}
DROPPED = {"hoodie.datasource.write.drop.partition.columns": "true"}
KINDS = {
    "CopyOnWrite": Driver(written_with=QUIET, metadata_table=True),
    "MergeOnRead": Driver(table_type="MERGE_ON_READ", written_with=QUIET, metadata_table=True),
    "VirtualKeys": Driver(written_with=QUIET, created_with=VIRTUAL, metadata_table=True),
    "VirtualKeysMergedOnRead": Driver(table_type="MERGE_ON_READ", written_with=QUIET, created_with=VIRTUAL, metadata_table=True),
    "DroppedColumns": Driver(written_with=QUIET, created_with=DROPPED, metadata_table=True),
    "DroppedColumnsOfVersion8": Driver(written_with=QUIET, created_with=DROPPED | {"hoodie.write.table.version": "8"}),
    "MergeOnReadOfVersion6": Driver(table_type="MERGE_ON_READ", written_with=QUIET, created_with={"hoodie.write.table.version": "6"}),
    "MergeOnReadOfVersion8": Driver(
        table_type="MERGE_ON_READ", written_with=QUIET, created_with={"hoodie.write.table.version": "8"}, metadata_table=True
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_long_lives_of_each_kind_of_table(kind: str) -> None:
    run_state_machine_as_test(service_machine(KINDS[kind]), settings=LONG)


def delete_all_but_the_newest(table: HudiTable) -> None:
    """A clean that takes what is retained."""
    for row in table.inspect.slices().to_pylist():
        if not row["latest"]:
            table.storage.delete(f"{row['partition_path']}/{row['base_file']}")


def test_a_clean_that_takes_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = service_machine(Driver(written_with=QUIET, metadata_table=True))()
    machine.create()
    machine.write_often(values=[1, 2, 3, 4])
    machine.serve(name="clean")
    monkeypatch.setitem(SERVICES, "clean", delete_all_but_the_newest)
    with pytest.raises(HudiError):
        machine.serve(name="clean")
