"""Every error pyhudi raises on purpose, by what the caller should do about it.

    HudiError
    ├── UsageError            fix the call: option, argument, data
    │   ├── OptionError       an option is unknown, contradicting or has a bad value
    │   ├── SchemaError       the data's columns or types do not fit the table
    │   └── KeyFieldError     a record key or partition value is missing, null or not allowed
    ├── TableNotFound         there is no Hudi table at the path (also a FileNotFoundError)
    ├── TableExists           there is one already, or files that are not ours (also a FileExistsError)
    ├── CorruptTableError     the table's own bytes are damaged or contradict each other
    ├── UnsupportedError      valid Hudi, but not served by this release (also a NotImplementedError)
    ├── StorageError          the storage failed (also an OSError)
    │   └── AlreadyExistsError    an exclusive create met an existing file
    ├── ConflictError         another writer was faster or holds the table; retry is safe
    │   ├── WriteConflictError    one that worked at the same time changed the same data
    │   ├── LockLostError         the lock was deleted, taken over or expired while it was held
    │   └── LockTimeoutError      the table lock was not to be had in time
    ├── CatalogError          a catalog such as a Hive metastore does not answer or refuses; the table itself is fine
    └── UnknownOutcomeError   the commit may or may not have happened; `table.history()` tells

Each message says what is wrong, names the table, instant, file or option, and says what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TypeVar


class HudiError(Exception):
    """Root of everything pyhudi raises on purpose."""

    #: The name or value in the caller's text that this is about, and which of its occurrences there; SQL shows the place.
    subject: tuple[str, int] | None = None


class UsageError(HudiError, ValueError):
    """The call, its options or its data are wrong; nothing was written."""


class OptionError(UsageError):
    """An option is unknown, contradicts another or the table, or has a value it cannot have."""


class SchemaError(UsageError):
    """Columns or types of the data cannot be stored in the table."""


class KeyFieldError(UsageError):
    """A record key or partition value is missing, null or not allowed."""


class TableNotFound(HudiError, FileNotFoundError):
    """There is no Hudi table at the path."""


class TableExists(HudiError, FileExistsError):
    """Where a table was to be created, there is one, or files that are not a table's."""


class StateDeletedError(UsageError):
    """A clean, a rollback or a restore has deleted files of the state that is being read; what the table holds now can be read."""


class CorruptTableError(HudiError):
    """Bytes of the table are damaged or contradict each other."""


class UnsupportedError(HudiError, NotImplementedError):
    """The table or the call is valid Hudi, but this release does not serve it."""


class StorageError(HudiError, OSError):
    """The storage failed to do what was asked."""


class AlreadyExistsError(StorageError):
    """An exclusive create met a file of that name."""


class ConflictError(HudiError):
    """Another writer changed or holds what this one needs; nothing of this write is visible."""


class WriteConflictError(ConflictError):
    """Another writer that worked at the same time has changed the same data and came first; nothing of this write is visible."""


class LockLostError(ConflictError):
    """The table's lock was deleted, taken over or expired while a writer held it; nothing of this write is visible."""


class ValidationError(HudiError):
    """A pre-commit validator refused a write; nothing of it is visible."""


class LockTimeoutError(ConflictError):
    """The lock of the table could not be had within the time allowed."""


class CatalogError(HudiError):
    """A catalog outside the table does not answer or refuses; the table itself is as it was, and the next sync continues."""


class ReportingError(HudiError):
    """A commit callback or a metrics reporter failed; the commit that it was to report is visible."""


class TableServiceError(HudiError):
    """A table service that a write ran after its commit failed, and the options of the write ask for an error; the write is visible."""


class UnknownOutcomeError(HudiError):
    """The last step of a commit failed without an answer: the commit may be visible or not."""


E = TypeVar("E", bound=HudiError)


def with_subject(error: E, name: str, occurrence: int = 0) -> E:
    """Say which name or value of the caller's text an error is about.

    Args:
        error: The error, which is returned.
        name: The name or value as the text states it, without quotes.
        occurrence: Which of those in the text, from 0 on.

    Example:
        >>> with_subject(SchemaError("there is no column amuont"), "amuont").subject
        ('amuont', 0)
    """
    error.subject = (name, occurrence)
    return error


def did_you_mean(name: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """Return ` Did you mean 'x'?` for the known name closest to `name`, regardless of case, or an empty string.

    Args:
        name: as it was given.
        known: the names that may be meant.
        likeness: how much of both names must agree, from 0 to 1.

    Example:
        >>> did_you_mean("primaryKye", ["primaryKey", "type"])
        " Did you mean 'primaryKey'?"
    """
    by_lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=likeness)
    return f" Did you mean '{by_lower[close[0]]}'?" if close else ""
