"""Keys and partition paths by rules of the table's owner: the protocol, and where its implementations are found by name.

Rules: a `KeyGenerator` of a user is a Java class named in a table's properties; here a Python object is registered under that name. No code
is ever loaded by a name that a table holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pyhudi.errors import KeyFieldError, UnsupportedError
from pyhudi.keygen.key_generator_protocol import PartitionLayout
from pyhudi.spec.files.partition_path import check_new

Record = Mapping[str, Any]


class RecordKeyGenerator(Protocol):
    """Makes key and partition path of one record. Implementations are small picklable values: tasks carry them to other processes."""

    def record_key(self, record: Record) -> str:
        """Return the record key: a text that is not empty.

        Args:
            record: the values of all data columns by name, as `pyarrow.Array.to_pylist` gives them.
        """
        ...

    def partition_path(self, record: Record) -> str:
        """Return the partition path below the table, `""` for a table without partitions; takes the same record."""
        ...


@dataclass(frozen=True, slots=True)
class UserKeys:
    """A user's generator under the name that the table has for it."""

    name: str
    generator: RecordKeyGenerator
    layout: PartitionLayout

    def key_of(self, record: Record, *, row: int) -> str:
        """Return the key of one record.

        Raises:
            KeyFieldError: the generator failed, or gave no text, or an empty one, or one that no file can hold.
        """
        key = self._make_generator(self.generator.record_key, "record key", record, row)
        if not isinstance(key, str) or not key:
            raise KeyFieldError(f"Key generator '{self.name}' made the record key {key!r} of row {row}; a key is a text that is not empty.")
        return key

    def path_of(self, record: Record, *, row: int) -> str:
        """Return the partition path of one record.

        Raises:
            KeyFieldError: the generator failed, or gave no text, or one that is no place for a partition of this table, or does not tell
                the values of partition columns that the files leave out.
        """
        path = self._make_generator(self.generator.partition_path, "partition path", record, row)
        if not isinstance(path, str) or bool(path) != bool(self.layout.fields):
            expected_form = (
                "a path, since the table has partition fields" if self.layout.fields else "'', since the table has no partition fields"
            )
            raise KeyFieldError(f"Key generator '{self.name}' made the partition path {path!r} of row {row}; it must be {expected_form}.")
        try:
            check_new(path)
            if all(field.name in record for field in self.layout.fields):  # the keys of a delete may come without them
                self.layout.check_reversible(path, [field.text(record[field.name], row=row) for field in self.layout.fields])
        except KeyFieldError as error:
            raise KeyFieldError(f"Key generator '{self.name}' made the path of row {row}: {error}.") from None
        return path

    def _make_generator(self, make: Callable[[Record], object], what: str, record: Record, row: int) -> object:
        try:
            made = make(record)
        except Exception as error:
            raise KeyFieldError(
                f"Key generator '{self.name}' failed on the {what} of row {row}: {type(error).__name__}: {_describe_error(error)}."
            ) from error
        if isinstance(made, str) and _sayable(made) != made:
            raise KeyFieldError(
                f"Key generator '{self.name}' made the {what} {made!r} of row {row}; it has half of a surrogate pair, no character."
            )
        return made


def _describe_error(error: Exception) -> str:
    try:
        return _sayable(str(error))
    except Exception:  # noqa: BLE001 - a class of the user's
        return "which cannot be shown"


def _sayable(text: str) -> str:
    """Return a text with escapes for what is no character: neither files nor messages between processes can hold it."""
    return text.encode(errors="backslashreplace").decode()


_GENERATORS: dict[str, RecordKeyGenerator] = {}


def register_key_generator(name: str, generator: RecordKeyGenerator) -> None:
    """Make keys of tables that name this generator by `generator`, in this process and in the tasks that it starts.

    Args:
        name: `hoodie.datasource.write.keygenerator.class` as it is given when the table is made.
        generator: how a record's key and partition path come about.

    Example:
        >>> class ByLetter:
        ...     def record_key(self, record):
        ...         return record["id"].lower()
        ...     def partition_path(self, record):
        ...         return record["id"][:1].lower()
        >>> register_key_generator("com.example.ByLetter", ByLetter())
    """
    _GENERATORS[name] = generator


def find_key_generator(name: str) -> RecordKeyGenerator:
    """Return the generator that is registered under a name.

    Raises:
        UnsupportedError: none is; names it.
    """
    if name not in _GENERATORS:
        raise UnsupportedError(
            f"The key generator '{name}' is a class of a user's, which is not known here and is not loaded by its name. Register a Python"
            " implementation: pyhudi.register_key_generator(name, generator)."
        )
    return _GENERATORS[name]
