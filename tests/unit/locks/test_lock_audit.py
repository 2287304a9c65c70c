"""The audit of a lock object: records, what is switched on when, checks, cleanup, the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from pyhudi.errors import CorruptTableError, StorageError, UsageError
from pyhudi.locks.file_system_lock import FileSystemProvider
from pyhudi.locks.lock_audit import AUDIT_FOLDER, CONFIG_FILE, CONFIG_NAME, AuditRecord, AuditState
from pyhudi.locks.storage_lock import StorageLock, StorageProvider, with_audit
from pyhudi.service.lock_audit_service import clean_lock_audit, lock_audit_status, set_lock_audit, validate_lock_audit
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.locks.test_storage_lock import BEGIN, Object, Time

BEGIN_MS = int(BEGIN.timestamp() * 1000)


@pytest.fixture
def storage(tmp_path) -> LocalStorage:
    return LocalStorage(str(tmp_path))


def a_lock(stored: Object, clock: Time, audited) -> StorageLock:
    return StorageLock(stored, StorageProvider(100, 10), "s3://b/t/lock", clock, clock.elapsed, clock.pause, audited)


def records(storage) -> list[list[dict[str, object]]]:
    return [[json.loads(line) for line in storage.read(one.path).splitlines()] for one in storage.list(AUDIT_FOLDER)]


def window(storage, name: str, *states: tuple[AuditState, int]) -> None:
    lines = [AuditRecord(states[0][1], True, state, time_ms + 100, name, time_ms).encode() for state, time_ms in states]
    storage.replace(f"{AUDIT_FOLDER}/{states[0][1]}_{name}.jsonl", "".join(lines).encode())


def test_holder_records_what_it_does_in_one_file(storage) -> None:
    set_lock_audit(storage, enabled=True)
    stored, clock = Object(), Time()
    lock = a_lock(stored, clock, storage)
    assert lock.acquire(0)
    clock.seconds = 10
    assert lock.renew()
    clock.seconds = 12
    lock.release()
    common = {"transactionStartTime": BEGIN_MS, "lockHeld": True, "ownerId": lock._owner}
    assert records(storage) == [
        [
            {**common, "state": "START", "lockExpiration": BEGIN_MS + 100_000, "timestamp": BEGIN_MS},
            {**common, "state": "RENEW", "lockExpiration": BEGIN_MS + 110_000, "timestamp": BEGIN_MS + 10_000},
            {**common, "state": "END", "lockExpiration": BEGIN_MS + 110_000, "timestamp": BEGIN_MS + 12_000},
        ]
    ]
    (status,) = storage.list(AUDIT_FOLDER)
    assert status.name == f"{BEGIN_MS}_{lock._owner}.jsonl"
    assert validate_lock_audit(storage).result == "PASSED"


@pytest.mark.parametrize("config", [None, b'{"STORAGE_LOCK_AUDIT_SERVICE_ENABLED":false}', b"[]", b"{", b"{}"])
def test_nothing_is_recorded_unless_the_audit_is_on(storage, config) -> None:
    if config is not None:
        storage.replace(CONFIG_FILE, config)
    lock = a_lock(Object(), Time(), storage)
    assert lock.acquire(0)
    assert lock.is_held()
    lock.release()
    assert records(storage) == []


def test_lock_without_audit_reads_no_config() -> None:
    provider = StorageProvider()
    assert with_audit(provider, ["pyhudi-lock-provider-0.json"]) is provider
    assert with_audit(provider, [CONFIG_NAME]) == provider
    audited = with_audit(provider, [CONFIG_NAME])
    assert isinstance(audited, StorageProvider)
    assert audited.may_audit
    other = FileSystemProvider()
    assert with_audit(other, [CONFIG_NAME]) is other


def test_lock_that_is_lost_has_no_end_and_records_that_fail_are_no_reason_to_lose_it(storage, monkeypatch, caplog) -> None:
    set_lock_audit(storage, enabled=True)
    stored, clock = Object(), Time()
    first = a_lock(stored, clock, storage)
    assert first.acquire(0)
    clock.seconds = 101
    second = a_lock(stored, clock, storage)
    assert second.acquire(0)
    assert not first.renew()
    first.release()

    def replace(*_args, **_named):
        raise StorageError("disk full")

    monkeypatch.setattr(LocalStorage, "replace", replace)
    assert second.renew()
    assert second.is_held()
    assert "of a lock could not be written: disk full" in caplog.text
    monkeypatch.undo()
    second.release()
    report = validate_lock_audit(storage)
    assert (report.result, report.transactions, len(report.issues)) == ("WARNING", 2, 1)
    assert report.issues[0].startswith(f"[WARNING] {BEGIN_MS}_{first._owner}.jsonl => transaction did not end gracefully")


def test_validation_names_overlaps_and_what_cannot_be_read() -> None:
    storage = MemoryStorage()
    assert validate_lock_audit(storage).to_dict() == {"result": "PASSED", "files": 0, "transactions": 0, "issues": ()}
    window(storage, "a", (AuditState.START, 1000), (AuditState.END, 1500))
    window(storage, "b", (AuditState.START, 1500), (AuditState.RENEW, 1600), (AuditState.END, 1700))
    assert validate_lock_audit(storage).result == "PASSED"
    window(storage, "c", (AuditState.START, 1650))
    window(storage, "d", (AuditState.START, 1749), (AuditState.END, 1800))
    storage.replace(f"{AUDIT_FOLDER}/5_e.jsonl", b'{"state": "START"}\n')
    report = validate_lock_audit(storage)
    assert report.result == "FAILED"
    assert report.transactions == 4
    assert [issue.partition(": ")[0] for issue in report.issues] == [
        "[ERROR] 1500_b.jsonl => overlaps with 1650_c.jsonl",
        "[ERROR] 1650_c.jsonl => overlaps with 1749_d.jsonl",
        "[ERROR] Failed to parse audit file",
        "[WARNING] 1650_c.jsonl => transaction did not end gracefully. This could be due to driver OOM or non-graceful shutdown.",
    ]
    assert str(report).startswith("FAILED: the lock was held 4 times\n  [ERROR] 1500_b")


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1]\n", b'{"state": "BEGIN"}\n', b"{\n"])
def test_files_that_cannot_be_read_alone_are_a_failure(content) -> None:
    storage = MemoryStorage()
    storage.replace(f"{AUDIT_FOLDER}/5_e.jsonl", content)
    report = validate_lock_audit(storage)
    assert (report.result, report.transactions, len(report.issues)) == ("FAILED", 0, 1)


class _Later:
    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=8)


def test_cleanup_deletes_old_records_only(storage) -> None:
    window(storage, "a", (AuditState.START, 1000))
    storage.replace(f"{AUDIT_FOLDER}/other.txt", b"")
    path = f"{AUDIT_FOLDER}/1000_a.jsonl"
    assert clean_lock_audit(storage, _Later(), 9, dry_run=False).files == ()
    assert clean_lock_audit(storage, _Later(), 7, dry_run=True).files == (path,)
    assert len(records(storage)) == 2
    result = clean_lock_audit(storage, _Later(), 7, dry_run=False)
    assert str(result) == "1 files of the audit of locks that are older than 7 days are deleted"
    assert [one.name for one in storage.list(AUDIT_FOLDER)] == ["other.txt"]
    with pytest.raises(UsageError, match="age_days is -1"):
        clean_lock_audit(storage, _Later(), -1, dry_run=False)


def test_switching_off_can_delete_the_records(storage, caplog) -> None:
    window(storage, "a", (AuditState.START, 1000))
    assert set_lock_audit(storage, enabled=True).enabled
    assert "only StorageBasedLockProvider" in caplog.text
    status = set_lock_audit(storage, enabled=False)
    assert (status.enabled, status.files) == (False, 1)
    assert set_lock_audit(storage, enabled=False, keep_files=False).files == 0
    storage.replace(CONFIG_FILE, b"{")
    with pytest.raises(CorruptTableError, match=r"audit_enabled\.json.*Switch the audit of locks on or off again"):
        lock_audit_status(storage)


def test_command_line(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t", keys=["id"])

    def run(*arguments: str):
        return CliRunner().invoke(main, ["locks", "audit", arguments[0], table.storage.uri, *arguments[1:]])

    assert json.loads(run("enable", "--json").output)["enabled"] is True
    assert run("status").output.startswith("the audit of locks is on (")
    window(table.storage, "a", (AuditState.START, 1000), (AuditState.END, 2000))
    assert run("validate").output == "PASSED: the lock was held 1 times\n"
    window(table.storage, "b", (AuditState.START, 1500), (AuditState.END, 1600))
    failed = run("validate")
    assert failed.exit_code == 1
    assert "[ERROR] 1000_a.jsonl => overlaps with 1500_b.jsonl" in failed.output
    assert "2 files" in run("cleanup", "--age-days", "0", "--dry-run").output
    assert run("cleanup", "--age-days", "-1").exit_code == 2
    assert json.loads(run("disable", "--delete-files", "--json").output)["files"] == 0
