"""Options of a read without Spark: each has its effect, or is refused by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError, OptionError, UnsupportedError
from pyhudi.read.read_kinds import ReadKind, warn_of_no_effect
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spec.config.config_key import ConfigKey, Kind, Status
from pyhudi.spec.config.read_keys import READING
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.options import resolve

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("fare", pa.float64())])
DOORS: dict[str, Callable[..., Any]] = {
    "to_arrow": HudiTable.to_arrow,
    "to_batches": HudiTable.to_batches,
    "scan": HudiTable.scan,
    "count": HudiTable.count,
    "changes": HudiTable.changes,
    "change data": lambda table, **named: HudiTable.changes(table, format="cdc", **named),
}
#: Options that each door serves at a value that is not the default.
SERVED = {
    "hoodie.enable.data.skipping": "to_arrow to_batches scan count changes",
    "hoodie.memory.merge.max.size": "to_arrow to_batches scan count changes",
    "pyhudi.read.verify.checksums": "to_arrow to_batches scan count changes",
    "hoodie.datasource.read.paths": "to_arrow to_batches scan count changes",
    "hoodie.datasource.merge.type": "to_arrow to_batches scan count",
    "hoodie.datasource.read.extract.partition.values.from.path": "to_arrow to_batches scan count",
    "hoodie.datasource.query.type": "changes,change data",
    "hoodie.datasource.read.incr.fallback.fulltablescan.enable": "changes",
    "hoodie.datasource.read.incr.path.glob": "changes",
    "hoodie.datasource.read.incr.filters": "changes",
    "hoodie.read.timeline.holes.resolution.policy": "changes,change data",
    "hoodie.datasource.read.incr.table.version": "changes,change data",
}
VALUES = {
    "hoodie.memory.merge.max.size": "4000",
    "hoodie.datasource.read.paths": "oslo",
    "hoodie.datasource.query.type": "incremental",
    "hoodie.datasource.read.incr.filters": "id = 1",
}


@pytest.fixture(scope="module")
def table() -> HudiTable:
    made = HudiTable.create(
        "memory://options_of_reads",
        SCHEMA,
        name="t",
        keys=["id"],
        partition_by=["city"],
        table_type="mor",
        options={"hoodie.table.cdc.enabled": "true"},
    )
    made.insert(pa.table({"id": [1, 2], "city": ["oslo", "rome"], "fare": [1.0, 2.0]}))
    made.upsert(pa.table({"id": [1], "city": ["oslo"], "fare": [3.0]}))
    return made


def value_of(key: ConfigKey) -> str:
    """Return a value at which a key asks for something."""
    if key.name in VALUES:
        return VALUES[key.name]
    if key.kind is Kind.FLAG:
        return "false" if key.default == "true" else "true"
    return "5" if key.kind is Kind.POSITIVE else key.choices[-1] if key.choices else "x"


@pytest.mark.parametrize("door", DOORS)
def test_every_option_of_reads_is_served_or_refused_by_its_name(table: HudiTable, door: str) -> None:
    served = {name for name, doors in SERVED.items() if door in (doors.split(",") if "," in doors else doors.split())}
    for key in READING:
        if key.status is not Status.SERVED:
            continue
        if key.name in served:
            DOORS[door](table, options={key.name: value_of(key)})
            continue
        with pytest.raises(OptionError, match=key.name.replace(".", r"\.")):
            DOORS[door](table, options={key.name: value_of(key)})


@pytest.mark.parametrize(("name", "argument"), [("hoodie.datasource.query.type", "mode"), ("as.of.instant", "as_of")])
def test_option_that_an_argument_states_is_refused(table: HudiTable, name: str, argument: str) -> None:
    with pytest.raises(OptionError, match=f"{name} is the argument {argument} here"):
        table.to_arrow(options={name: "read_optimized"})


def test_options_at_their_defaults_ask_for_nothing(table: HudiTable) -> None:
    defaults = {key.name: key.default for key in READING if key.status is Status.SERVED and key.default and key.name not in VALUES}
    assert table.count(options={name: text for name, text in defaults.items() if "incremental.format" not in name}) == 2


def test_changes_refuse_another_type_of_query(table: HudiTable) -> None:
    for kind in ("snapshot", "read_optimized"):
        with pytest.raises(
            OptionError, match=rf"query\.type={kind}: changes\(\) is an incremental read\. Leave it out, or call to_arrow\(\)"
        ):
            table.changes(options={"hoodie.datasource.query.type": kind})


def test_count_takes_the_options_of_reads(table: HudiTable) -> None:
    assert table.count(options={"hoodie.datasource.read.paths": "oslo"}) == 1
    assert table.count(options={"hoodie.datasource.merge.type": "skip_merge"}) == 3


def test_changes_are_read_as_options_ask(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = []
    with_checksums = Snapshot.with_checksums

    def noting(snapshot: Snapshot, file_slice: FileSlice) -> FileSlice:
        queries.append((snapshot.query.use_metadata_table, snapshot.query.merge_bytes, snapshot.query.verifies_pages))
        return with_checksums(snapshot, file_slice)

    monkeypatch.setattr(Snapshot, "with_checksums", noting)
    options = {"hoodie.metadata.enable": "false", "hoodie.memory.merge.max.size": "4000000", "pyhudi.read.verify.checksums": "false"}
    assert table.changes(options=options).num_rows == 2
    assert queries == [(False, 4000000, False)]


def test_completion_times_of_a_table_that_keeps_none() -> None:
    old = HudiTable.create("memory://times_of_6", SCHEMA, name="t", keys=["id"], options={"hoodie.write.table.version": "6"})
    old.insert(pa.table({"id": [1], "city": ["oslo"], "fare": [1.0]}))
    option = "hoodie.datasource.read.incr.table.version"
    assert old.changes(options={option: "6"}).num_rows == 1
    with pytest.raises(UnsupportedError, match="table memory://times_of_6 is of version 6, which keeps no completion times"):
        old.changes(options={option: "8"})


def test_secondary_indexes_are_switched_off_for_reads_only(table: HudiTable) -> None:
    option = {"hoodie.metadata.index.secondary.enable": "false"}
    assert table.count(options=option) == 2
    with pytest.raises(UnsupportedError, match=r"index\.secondary\.enable=false is not served for writes.*DROP INDEX"):
        table.upsert(pa.table({"id": [1], "city": ["oslo"], "fare": [9.0]}), options=option)
    assert table.count("fare = 9.0") == 0


def test_readers_of_spark_warn_of_what_has_no_effect(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "pyhudi.options")
    given = {
        "hoodie.datasource.read.incr.path.glob": "/x",
        "hoodie.upsert.shuffle.parallelism": "2",
        "hoodie.datasource.write.operation": "insert",
    }
    warn_of_no_effect(resolve(given), ReadKind.STATE)
    warn_of_no_effect(resolve({"hoodie.datasource.merge.type": "skip_merge"}), ReadKind.STREAM)
    messages = [(record.levelname, record.getMessage()) for record in caplog.records if "hoodie.upsert" not in record.getMessage()]
    assert [level for level, _ in messages] == ["WARNING", "INFO", "WARNING"]
    assert "incr.path.glob' has no effect: it is for an incremental read or a read of change data" in messages[0][1]
    assert messages[0][1].endswith("an incremental read also needs hoodie.datasource.query.type=incremental")
    assert "write.operation' has no effect: it is for writes" in messages[1][1]
    assert "merge.type' has no effect: it is for a read of one state of the table, and this is a stream" in messages[2][1]


@pytest.mark.parametrize("options", [{"hoodie.datasource.read.incr.path.glob": "[a"}, {"hoodie.datasource.read.incr.filters": "id = (1"}])
def test_options_of_changes_that_cannot_be_understood(table: HudiTable, options: dict[str, str]) -> None:
    with pytest.raises(HudiError):
        table.changes(options=options)
