"""Every key of Apache Hudi 1.2.0 is known here, as what it is there; `hudi_keys.tsv` was recorded from its bundle."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.config.config_key import ConfigKey, Kind, Status
from pyhudi.spec.config.config_keys import KEYS, find_key
from pyhudi.spec.config.recorded_keys import RecordedKey, recorded_keys
from pyhudi.spec.options import resolve
from tests.not_none import not_none

RECORDED = recorded_keys()
SERVED = [key for key in KEYS if key.status is Status.SERVED]
DIFFERENCES = Path(__file__).parents[3] / "docs" / "differences.md"
KINDS = {
    "flag": {Kind.FLAG},
    "integer": {Kind.INTEGER, Kind.COUNT, Kind.POSITIVE},
    "number": {Kind.NUMBER, Kind.FRACTION},
    "text": {Kind.TEXT},
}
#: Read by Apache Hudi's code without standing in its list, or short names of its SQL.
UNLISTED = {
    "hoodie.payload.delete.field",
    "hoodie.payload.delete.marker",
    "hoodie.write.partial.update.unavailable.value",
    "hoodie.metadata.index.partition.stats.enable",
    "hoodie.sql.origin.keygen.class",
    "hoodie.realtime.merge.skip",
    "timestampAsOf",  # Spark's
    "versionAsOf",
    "type",
    "primaryKey",
    "preCombineField",
    "orderingFields",
    "recordMergeMode",
    "recordMergeStrategyId",
    "payloadClass",
    "payloadType",
}
#: Names of earlier releases or of table properties, which 1.2.0 does not know: what they ask for is plain.
OTHER_SPELLINGS = {
    "hoodie.table.complex.keygenerator.encoding",
    "hoodie.datasource.write.ordering.fields",
    "hoodie.datasource.write.record.merge.mode",
    "hoodie.datasource.write.index.type",
    "hoodie.datasource.write.base.file.format",
    "hoodie.bloom.index.num_entries",
    "hoodie.bloom.index.fpp",
    "hoodie.compaction.schedule.inline",
    "hoodie.metadata.global.record.level.index.max.filegroup.size",
    "hoodie.metadata.global.record.level.index.growth.factor",
    "hoodie.metadata.record.level.index.max.filegroup.size",
    "hoodie.metadata.partitioned.record.index.max.filegroup.size",
    "hoodie.datasource.query.incremental.type",
    "hoodie.compaction.preserve.commit.metadata",
}
#: Keys of `hudi-aws`, which the bundle that the list was made of does not hold.
OF_AWS = ("hoodie.aws.", "hoodie.datasource.meta.sync.glue.", "hoodie.write.lock.dynamodb.")
#: Where the values are not those of Apache Hudi's list, with what pyhudi has besides or leaves out.
OTHER_VALUES = {
    "hoodie.datasource.write.table.type": {"cow", "mor"},
    "hoodie.datasource.write.operation": {
        *("bootstrap", "cluster", "compact", "alter_schema"),
        *("insert_prepped", "upsert_prepped", "bulk_insert_prepped", "delete_prepped"),
    },
}
WITHOUT_CHOICES = {"hoodie.index.type"}  # pyhudi.index.index_options says why one of another system is not served


@pytest.mark.parametrize("record", RECORDED.values(), ids=lambda record: record.name)
def test_every_key_of_apache_hudi_is_served_harmless_unserved_or_refused_by_each_of_its_names(record: RecordedKey) -> None:
    key = find_key(record.name)
    assert key is not None
    for name in (record.name, *record.others):
        result = not_none(find_key(name))
        assert (result.status, result.reason) == (key.status, key.reason)
        if key.status in (Status.REFUSED, Status.UNSERVED):
            with pytest.raises(UnsupportedError, match=re.escape(f"option '{name}'")) as caught:
                resolve({name: "no such value", "pyhudi.options.unserved": "refuse"})
            assert key.reason in str(caught.value)
        elif key.status is Status.HARMLESS and (key.kind is not Kind.TEXT or key.choices):
            with pytest.raises(OptionError, match=re.escape(name)):
                resolve({name: "no such value"})
        elif key.status is Status.HARMLESS:
            assert resolve({name: "no such value"}).given == {}


@pytest.mark.parametrize("key", [key for key in SERVED if key.name in RECORDED], ids=lambda key: key.name)
def test_served_keys_have_type_values_and_names_of_apache_hudi(key: ConfigKey) -> None:
    record = RECORDED[key.name]
    assert key.kind in KINDS[record.kind] or not record.default
    assert set(record.others) <= set(key.aliases)
    if record.values and key.name not in WITHOUT_CHOICES:
        ours, theirs = ({value.lower() for value in values} for values in (key.choices, record.values))
        assert ours ^ theirs == OTHER_VALUES.get(key.name, set())


def test_other_defaults_than_those_of_apache_hudi_stand_in_the_docs() -> None:
    text = DIFFERENCES.read_text(encoding="utf-8").partition("## Other defaults")[2]
    rows = re.findall(r"^\| `([^`]+)` \| (\S+) \| (\S+) \| \S.* \|$", text, re.MULTILINE)
    listed = {name: ("" if theirs == "-" else theirs.strip("`"), "" if ours == "-" else ours.strip("`")) for name, theirs, ours in rows}
    pairs = {key.name: (RECORDED[key.name].default, key.default or "") for key in SERVED if key.name in RECORDED}
    assert listed == {name: pair for name, pair in pairs.items() if pair[0].lower() != pair[1].lower()}


def test_names_that_apache_hudi_does_not_list_are_few_and_known() -> None:
    theirs = {name for record in RECORDED.values() for name in (record.name, *record.others)}
    served = {name for key in SERVED for name in (key.name, *key.aliases)} - theirs
    ours = {
        name
        for name in served
        if not name.startswith(
            (
                "pyhudi.",
                "hoodie.record.merge.property.",
                "hoodie.streamer.keygen.",
                "hoodie.write.lock.custom.",
                "hoodie.meta.sync.custom.",
                *OF_AWS,
            )
        )
    }
    assert ours <= UNLISTED | OTHER_SPELLINGS


def test_families_hold_keys_and_only_open_ones_take_in_names_that_apache_hudi_does_not_list() -> None:
    present = {not_none(find_key(name)).name for name in RECORDED}
    for key in KEYS:
        if key.is_family:
            assert find_key(f"{key.prefix}no_such_key") is (key if key.is_open else None)
            assert key.is_open or key.name in present


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("hoodie.bloom.index.prune.by.range", "hoodie.bloom.index.prune.by.ranges"),
        ("hoodie.metadata.enabel", "hoodie.metadata.enable"),
        ("hoodie.memory.merge.maxsize", "hoodie.memory.merge.max.size"),
        ("hoodie.metrics.onn", "hoodie.metrics.on"),
    ],
)
def test_a_misspelt_name_is_not_taken_for_one_of_its_harmless_or_refused_neighbours(name: str, hint: str) -> None:
    with pytest.raises(OptionError, match=re.escape(f"'{name}' is unknown. Did you mean '{hint}'")):
        resolve({name: "true", "pyhudi.options.unknown": "refuse"})


def test_an_older_name_works_and_is_noted_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pyhudi.options")
    for _ in range(2):
        assert resolve({"Hoodie.Datasource.Write.Storage.Type": "MERGE_ON_READ"}).text("type") == "MERGE_ON_READ"
    noted = [message for message in caplog.messages if "is an older name of 'hoodie.datasource.write.table.type'" in message]
    assert noted == ["option 'Hoodie.Datasource.Write.Storage.Type' is an older name of 'hoodie.datasource.write.table.type'"]


def test_a_refused_key_stops_a_write_before_anything_is_written() -> None:
    table = HudiTable.create("memory://refused_keys", pa.schema([("id", pa.int64())]), name="t", keys=["id"])
    before = _files(table)
    for name in RECORDED:
        if not_none(find_key(name)).status is Status.REFUSED:
            with pytest.raises(UnsupportedError, match=re.escape(name)):
                table.upsert([{"id": 1}], {name: "no such value"})
    assert _files(table) == before


def _files(table: HudiTable, folder: str = "") -> list[tuple[str, int]]:
    matches = [(status.path, status.size) for status in table.storage.list(folder) if not status.is_dir]
    return matches + [file for status in table.storage.list(folder) if status.is_dir for file in _files(table, status.path)]
