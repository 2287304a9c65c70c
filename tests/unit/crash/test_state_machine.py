"""A table's random life, against a dictionary."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, settings

from pyhudi.merge.custom import register_merger
from pyhudi.merge.partial_update import Record
from pyhudi.testing.state_machine import table_machine
from tests.unit.crash.tables import Driver

SETTINGS = settings(max_examples=25, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
#: The machine compacts when it likes.
BY_HAND = {"hoodie.compact.inline": "false"}
AVRO = {**BY_HAND, "hoodie.logfile.data.block.format": "avro"}

TestRides = table_machine(Driver(metadata_table=True)).TestCase
TestRides.settings = SETTINGS
TestRidesMergedOnRead = table_machine(Driver(table_type="MERGE_ON_READ", written_with=AVRO)).TestCase
TestRidesMergedOnRead.settings = SETTINGS
VERSION_6 = {"hoodie.write.table.version": "6"}
TestRidesOfVersion6 = table_machine(Driver(created_with=VERSION_6)).TestCase
TestRidesOfVersion6.settings = SETTINGS
TestRidesMergedOnReadOfVersion6 = table_machine(Driver(table_type="MERGE_ON_READ", created_with=VERSION_6)).TestCase
TestRidesMergedOnReadOfVersion6.settings = SETTINGS
TestLateRidesMergedOnRead = table_machine(
    Driver(table_type="MERGE_ON_READ", order_by=("value",), written_with=BY_HAND, metadata_table=True), ordering="value"
).TestCase
TestLateRidesMergedOnRead.settings = SETTINGS


@dataclass(frozen=True)
class Greatest:
    """Keeps the row of the greater value, the newer of two equal ones: what event time does, said by a class of the owner's."""

    def merge(self, older: Record, newer: Record) -> Record | None:
        return newer if newer["value"] >= older["value"] else older


register_merger("com.example.Greatest", Greatest())
CUSTOM = {"hoodie.record.merge.mode": "CUSTOM", "hoodie.datasource.write.payload.class": "com.example.Greatest"}
#: Every merge mode with every block format that is written; those above have the others.
SHORTER = settings(SETTINGS, max_examples=8)
TestRidesInParquetBlocks = table_machine(Driver(table_type="MERGE_ON_READ", written_with=BY_HAND)).TestCase
TestRidesInParquetBlocks.settings = SHORTER
TestLateRidesInAvroBlocks = table_machine(
    Driver(table_type="MERGE_ON_READ", order_by=("value",), written_with=AVRO), ordering="value"
).TestCase
TestLateRidesInAvroBlocks.settings = SHORTER
TestMergersRidesInParquetBlocks = table_machine(
    Driver(table_type="MERGE_ON_READ", order_by=("value",), created_with=CUSTOM, written_with=BY_HAND), ordering="value"
).TestCase
TestMergersRidesInParquetBlocks.settings = SHORTER
TestMergersRidesInAvroBlocks = table_machine(
    Driver(table_type="MERGE_ON_READ", order_by=("value",), created_with=CUSTOM, written_with=AVRO), ordering="value"
).TestCase
TestMergersRidesInAvroBlocks.settings = SHORTER
