"""Upgrade, downgrade and change of type: rows of every time stay, what a version lacks is refused, readers and writers beside it get on."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.codec.actions.commit_metadata import decode_commit, encode_commit
from pyhudi.errors import ConflictError, HudiError, OptionError, StorageError, UnsupportedError, UsageError
from pyhudi.service.upgrade import switch_version
from pyhudi.service.upgrade.completion_times import completion_times
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig, new_table_properties
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.spec.table.version_properties import properties_of_version
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.moved_timeline import MOVED_FILE, TimelineMovedError
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows
from tests.not_none import not_none
from tests.tables import unpack
from tests.unit.service.upgraded import QUIET, make, ride, rows, state

MODEL = "org.apache.hudi.common.model."


@pytest.mark.parametrize(
    ("name", "versions"),
    [
        ("archives/archived_v6", (8, 9, 6)),
        ("apache_hudi/merge_on_read_lagging_v6", (9, 8)),
        ("apache_hudi/merge_on_read_partial_update_v6", (9, 6, 8)),
        ("apache_hudi/merge_on_read_change_log_v9", (6, 9)),
        ("apache_hudi/merge_on_read_upgraded_v9", (8, 6)),
        ("apache_hudi/cleaned_and_archived_v9", (6, 8)),
    ],
)
def test_rows_of_every_time_stay_when_the_version_of_a_table_of_apache_hudi_changes(name: str, versions: tuple[int, ...], tmp_path) -> None:
    path = unpack(name, tmp_path, times=True)
    before = state(path)
    for to in versions:
        table = HudiTable.open(path)
        change = table.services.upgrade if to > table.config.version else table.services.downgrade
        assert change(to).to == table.config.version == to
        after = state(path)
        assert after == before, to
        assert {row["check"] for row in table.inspect.health().to_pylist()} <= {"nothing pending"}


def test_archived_instants_go_along_both_ways(tmp_path: Path) -> None:
    table = HudiTable.open(unpack("archives/archived_v6", tmp_path, times=True))

    def archived() -> list[tuple[str, str, object]]:
        config = HudiTable(table.storage).config
        done = archived_instants(table.storage, config, read_rows)
        return [(one.instant.requested, one.instant.action, None if one.metadata is None else one.metadata.operation) for one in done]

    before = archived()
    assert len(before) > 5
    assert table.services.upgrade(dry_run=True).archived == len(before)
    table.services.upgrade(9)
    assert archived() == before
    timeline = load_full_timeline(table.storage, table.config)
    first = next(one for one in not_none(timeline.archive).instants() if one.action is Action.COMMIT)
    assert first.completed is not None
    assert first.completed > first.requested
    assert load_commit_metadata(table.storage, table.config, timeline, first).schema_json
    table.services.downgrade(6)
    assert archived() == before


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_requested_commits_that_hold_a_record_have_the_form_of_the_layout(kind: str, tmp_path: Path) -> None:
    """Apache Hudi's upgrade writes an empty record into them, and its upgrade of a table of version 6 fails at one in Avro."""
    table = make(tmp_path, kind, version=8)
    suffix = f"{'commit' if kind == 'COPY_ON_WRITE' else 'deltacommit'}.requested"
    upgraded = min((tmp_path / "t" / ".hoodie" / "timeline").glob(f"*.{suffix}"))
    upgraded.write_bytes(encode_commit(CommitMetadata(operation="UNKNOWN"), sync=bytes(16)))
    table.services.downgrade(6)
    content = {file.name: file.read_bytes() for file in (tmp_path / "t" / ".hoodie").glob(f"*.{suffix}")}
    expected = b'{"partitionToWriteStats":{},"compacted":false,"extraMetadata":{},"operationType":"UNKNOWN"}'
    assert b"".join(content.pop(upgraded.name).split()) == expected
    assert set(content.values()) == {b""}
    table.services.upgrade(8)
    assert decode_commit(upgraded.read_bytes()) == CommitMetadata(operation="UNKNOWN")


@pytest.mark.parametrize(
    ("payload", "retained"),
    [
        ("OverwriteWithLatestAvroPayload", "COMMIT_TIME_ORDERING"),
        ("DefaultHoodieRecordPayload", "EVENT_TIME_ORDERING"),
        ("PartialUpdateAvroPayload", "EVENT_TIME_ORDERING"),
        ("AWSDmsAvroPayload", "COMMIT_TIME_ORDERING"),
    ],
)
def test_payload_class_becomes_the_merge_mode_by_which_the_table_was_read_and_comes_back(payload: str, retained: str) -> None:
    old = TableConfig(
        new_table_properties(name="t", version=6, ordering_fields=["ts"]) | {"hoodie.compaction.payload.class": MODEL + payload}
    )
    new = TableConfig(properties_of_version(old, TableVersion.NINE))
    assert new.merge_mode == retained
    assert new.properties["hoodie.table.legacy.payload.class"] == MODEL + payload
    assert new.properties["hoodie.table.ordering.fields"] == "ts"
    assert "hoodie.compaction.payload.class" not in new.properties
    assert "hoodie.record.merge.strategy.id" not in new.properties
    by_eight = properties_of_version(TableConfig(properties_of_version(old, TableVersion.EIGHT)), TableVersion.NINE)
    assert by_eight == new.properties
    back = properties_of_version(new, TableVersion.SIX)
    assert back["hoodie.compaction.payload.class"] == MODEL + payload
    assert back["hoodie.table.precombine.field"] == "ts"
    assert not {name for name in back if name.startswith("hoodie.record.merge.")}


def test_completion_times_never_contradict_the_order_of_requests() -> None:
    commits = [Instant(f"202601010000000{number:02}", Action.COMMIT, State.COMPLETED) for number in (1, 2, 50)]
    copied = completion_times([(one, "20270101000000000") for one in commits])
    assert list(copied.values()) == ["20260101000000002", "20260101000000049", "20270101000000000"]
    trusted = completion_times([(commits[1], "20260101000000030"), (commits[2], None)])
    assert list(trusted.values()) == ["20260101000000030", "20260101000000051"]


@pytest.mark.parametrize(
    ("version", "to", "properties", "reason"),
    [
        (9, 8, {"hoodie.table.ordering.fields": "ts,v"}, "ordering fields ts, v"),
        (9, 6, {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}, "hoodie.table.partial.update.mode"),
        (9, 8, {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}, "slash.separated"),
        (9, 6, {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": "my-merger"}, "my-merger"),
    ],
)
def test_downgrade_that_would_lose_a_feature_is_refused_by_name(version, to, properties, reason, tmp_path) -> None:
    table = make(tmp_path, version=version)
    text = (tmp_path / "t" / ".hoodie" / "hoodie.properties").read_text()
    lines = [line for line in text.splitlines() if line.partition("=")[0] not in properties] + [f"{k}={v}" for k, v in properties.items()]
    (tmp_path / "t" / ".hoodie" / "hoodie.properties").write_text("\n".join(lines) + "\n")
    (tmp_path / "t" / ".hoodie" / ".hoodie.properties.crc").unlink(missing_ok=True)
    table.inspect.health(fix_properties=True)
    before = sorted(str(path) for path in (tmp_path / "t").rglob("*"))
    with pytest.raises(UnsupportedError, match=reason):
        table.services.downgrade(to)
    assert sorted(str(path) for path in (tmp_path / "t").rglob("*")) == before


def test_bare_keys_of_the_generator_complex_do_not_come_to_version_9(tmp_path) -> None:
    complex_keys = {"hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator"}
    table = make(tmp_path, version=8, **complex_keys, **{"hoodie.table.complex.keygenerator.encoding": "VALUE_ONLY"})
    if table.config.properties.get("hoodie.table.complex.keygenerator.encoding") != "VALUE_ONLY":
        pytest.skip("tables with bare keys are not made here")
    with pytest.raises(UnsupportedError, match="bare values"):
        table.services.upgrade(9)


def test_wrong_direction_and_unknown_versions_are_refused(tmp_path: Path) -> None:
    services = make(tmp_path, version=8).services
    with pytest.raises(UsageError, match="is a downgrade"):
        services.upgrade(6)
    with pytest.raises(UsageError, match="is an upgrade"):
        services.downgrade("NINE")
    with pytest.raises(OptionError, match="'10' is none"):
        services.upgrade(10)
    with pytest.raises(OptionError, match="TEN"):
        services.upgrade("TEN")
    assert services.upgrade("EIGHT").origin == 8


def test_dry_run_names_what_would_be_done_and_changes_nothing(tmp_path: Path) -> None:
    table = make(tmp_path, "MERGE_ON_READ")
    before = {path: path.read_bytes() for path in (tmp_path / "t").rglob("*") if path.is_file()}
    change = table.services.upgrade(dry_run=True)
    assert (change.origin, change.to, change.instants, change.dry_run) == (6, 9, 3, True)
    assert change.properties["hoodie.table.version"] == "9"
    assert change.to_dict()["indexes_rebuilt"] == ["column_stats", "files"]
    assert str(change).startswith("would change from version 6 to 9: 3 active and 0 archived instants converted")
    assert {path: path.read_bytes() for path in (tmp_path / "t").rglob("*") if path.is_file() and ".locks" not in str(path)} == {
        path: data for path, data in before.items() if ".locks" not in str(path)
    }


def test_a_write_upgrades_only_when_it_is_asked_to_and_else_says_once_that_it_could(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pyhudi.table.version.version_table")
    table = make(tmp_path)
    table.upsert([ride(1, 10)])
    assert table.config.version == 6
    assert caplog.text.count("hoodie.write.auto.upgrade=true") == 1
    table.upsert([ride(1, 11)], options={"hoodie.write.auto.upgrade": "true", "hoodie.write.table.version": "8"})
    assert table.config.version == 8
    table.upsert([ride(1, 12)], options={"hoodie.write.auto.upgrade": "true"})
    assert table.config.version == HudiTable.open(tmp_path / "t").config.version == 9
    assert table.to_arrow(filter="id = 1")["v"].to_pylist() == [12]


def test_a_writer_that_opened_the_table_before_is_told_to_open_it_again(tmp_path: Path) -> None:
    make(tmp_path)
    old_handle = HudiTable.open(tmp_path / "t")
    HudiTable.open(tmp_path / "t").services.upgrade()
    with pytest.raises(ConflictError, match="from version 6 to 9 since it was opened"):
        old_handle.upsert([ride(1, 10)])
    old_handle.refresh()
    old_handle.upsert([ride(1, 10)])


def test_a_change_that_fails_leaves_the_change_before_it_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, options = make(tmp_path, version=9), {"hoodie.metadata.enable": "false"}
    table.upsert([ride(1, 10)], options=options)
    before = rows(table)
    table.services.downgrade(8)
    with monkeypatch.context() as failing:
        failing.setattr(switch_version, "store_properties", _fail)
        with pytest.raises(StorageError):
            HudiTable.open(tmp_path / "t").services.upgrade()
    table = HudiTable.open(tmp_path / "t")
    assert (table.config.version, rows(table)) == (8, before)
    table.upsert([ride(1, 11)], options=options)


def _fail(*_: object, **__: object) -> None:
    raise StorageError("on purpose")


def test_a_reader_with_the_old_properties_is_sent_to_the_new_timeline(tmp_path: Path) -> None:
    table = make(tmp_path)
    old, storage = table.config, table.storage
    timeline = load_full_timeline(storage, old)
    table.services.upgrade()
    with pytest.raises(TimelineMovedError, match="from version 6 to 9 while it was read"):
        load_timeline(storage, old)
    last = timeline.data_instants()[-1]
    assert load_commit_metadata(storage, old, timeline, last).operation == "UPSERT"  # a query that had begun ends
    assert (tmp_path / "t" / ".hoodie" / MOVED_FILE).exists()


def test_readers_continue_while_a_table_goes_up_and_down(tmp_path: Path) -> None:
    make(tmp_path, "MERGE_ON_READ")
    expected, wrong, stop = HudiTable.open(tmp_path / "t").to_arrow().sort_by("id").to_pylist(), [], threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                result = HudiTable(LocalStorage(str(tmp_path / "t"))).to_arrow().sort_by("id").to_pylist()
                if result != expected:
                    wrong.append(result)
            except HudiError as error:
                wrong.append(repr(error))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for to in (9, 6, 8, 6):
            services = HudiTable.open(tmp_path / "t").services
            (services.upgrade if to > 6 else services.downgrade)(to)
    finally:
        stop.set()
        reader.join()
    assert wrong == []


def test_table_type_changes_both_ways_and_rows_of_every_time_stay(tmp_path: Path) -> None:
    table = make(tmp_path, version=9)
    before = state(tmp_path / "t")
    assert table.services.change_type("mor").to == "MERGE_ON_READ"
    table.upsert([ride(1, 20)], options=QUIET)
    assert any(one.logs for path in ("oslo",) for one in table.inspect._view().latest_slices(path))
    with pytest.raises(UsageError, match="log files"):
        table.services.change_type("COW", compact=False)
    assert table.services.change_type("COPY_ON_WRITE", dry_run=True).dry_run
    done = table.services.change_type("COPY_ON_WRITE")
    assert done.compacted
    assert table.config.table_type == "COPY_ON_WRITE"
    assert state(tmp_path / "t")[: len(before) - 1] == before[:-1]
    table.upsert([ride(1, 30)])
    assert table.to_arrow(filter="id = 1")["v"].to_pylist() == [30]
    assert table.services.change_type("COW").origin == "COPY_ON_WRITE"
    with pytest.raises(OptionError, match="neither of"):
        table.services.change_type("LOG")
