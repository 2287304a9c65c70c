"""The audit of Apache Hudi's `StorageBasedLockProvider`: what a holder did with the lock, one file of JSON lines for each time it was held.

Rules: `StorageLockProviderAuditService`, `AuditServiceFactory`; docs/format/concurrency.md#lock-audit. A record that cannot be written is
logged: it is no reason to give a lock up.
"""

from __future__ import annotations

import enum
import json
import logging
import threading
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.storage.lock_files.record_files import LOCK_FOLDER
from pyhudi.storage.storage_protocol import Storage

CONFIG_NAME: Final = "audit_enabled.json"
CONFIG_FILE: Final = f"{LOCK_FOLDER}/{CONFIG_NAME}"
AUDIT_FOLDER: Final = f"{LOCK_FOLDER}/audit"
SUFFIX: Final = ".jsonl"
_ENABLED: Final = "STORAGE_LOCK_AUDIT_SERVICE_ENABLED"
_MAX_BYTES: Final = 1 << 16

_log = logging.getLogger(__name__)


class AuditState(enum.Enum):
    """What a record is about: the lock was taken, renewed or released."""

    START = "START"
    RENEW = "RENEW"
    END = "END"


def encode_config(*, enabled: bool) -> bytes:
    """Return the content of the file that switches the audit of a table on or off.

    Example:
        >>> encode_config(enabled=True)
        b'{"STORAGE_LOCK_AUDIT_SERVICE_ENABLED":true}'
    """
    return json.dumps({_ENABLED: enabled}, separators=(",", ":")).encode()


def is_audited(storage: Storage) -> bool:
    """Tell whether the audit of a table is on.

    Raises:
        CorruptTableError: the file that says so is damaged.
        StorageError: it cannot be read.
    """
    try:
        stated = json.loads(storage.read(CONFIG_FILE, max_bytes=_MAX_BYTES))
    except FileNotFoundError:
        return False
    except ValueError as error:
        raise CorruptTableError(
            f"file '{CONFIG_FILE}' of table {storage.uri} is no JSON: {error}. Switch the audit of locks on or off again."
        ) from error
    return isinstance(stated, dict) and stated.get(_ENABLED) is True


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A line of an audit; times are in epoch milliseconds."""

    begin_ms: int
    is_held: bool
    state: AuditState
    expiration_ms: int
    owner: str
    time_ms: int

    def encode(self) -> str:
        r"""Return the line as Apache Hudi writes it.

        Example:
            >>> AuditRecord(1, True, AuditState.START, 9, "a", 2).encode()
            '{"transactionStartTime":1,"lockHeld":true,"state":"START","lockExpiration":9,"ownerId":"a","timestamp":2}\n'
        """
        stated = {
            "transactionStartTime": self.begin_ms,
            "lockHeld": self.is_held,
            "state": self.state.value,
            "lockExpiration": self.expiration_ms,
            "ownerId": self.owner,
            "timestamp": self.time_ms,
        }
        return json.dumps(stated, separators=(",", ":")) + "\n"


def decode_records(data: bytes) -> list[AuditRecord]:
    """Return the records of a file of an audit.

    Raises:
        ValueError: a line is damaged, or there is none.
    """
    try:
        lines = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
        records = [
            AuditRecord(
                int(line["transactionStartTime"]),
                line["lockHeld"] is True,
                AuditState(line["state"]),
                int(line["lockExpiration"]),
                str(line["ownerId"]),
                int(line["timestamp"]),
            )
            for line in lines
        ]
    except (KeyError, TypeError) as error:
        raise ValueError(f"a record lacks {error}") from error
    if not records:
        raise ValueError("it has no record")
    return records


class LockAudit:
    """The file of one holder, which each record replaces as a whole."""

    def __init__(self, storage: Storage, owner: str, begin_ms: int) -> None:
        """Write nothing yet; the lock was taken at `begin_ms`."""
        self._storage, self._owner, self._begin_ms = storage, owner, begin_ms
        self._lines = ""
        self._one_record = threading.Lock()  # renewals have a thread of their own

    def record(self, state: AuditState, time_ms: int, expiration_ms: int) -> None:
        """Add a record, with the time until which the lock is valid."""
        line = AuditRecord(self._begin_ms, is_held=True, state=state, expiration_ms=expiration_ms, owner=self._owner, time_ms=time_ms)
        with self._one_record:
            self._lines += line.encode()
            path = f"{AUDIT_FOLDER}/{self._begin_ms}_{self._owner}{SUFFIX}"
            try:
                self._storage.replace(path, self._lines.encode())
            except (HudiError, OSError) as error:
                _log.warning("the audit '%s/%s' of a lock could not be written: %s", self._storage.uri, path, error)
