"""Merging by rules of the table's owner: the protocol, and where its implementations are found by name.

Rules: `HoodieRecordMerger` and payload classes are Java classes named in a table's properties; here a Python object is
registered under that name. Deletes follow the rules of event time whatever the merger does.
"""

from __future__ import annotations

from typing import Protocol

from pyhudi.errors import UnsupportedError
from pyhudi.merge.partial_update import Record


class RecordMerger(Protocol):
    """Merges two versions of one record. Implementations are small picklable values: tasks carry them to other processes."""

    def merge(self, older: Record, newer: Record) -> Record | None:
        """Return the live record from now on: one of the two, a new one, or None to delete it.

        A record maps the names of the table's columns, the five meta columns included, to Python values as
        `pyarrow.Array.to_pylist` gives them. Returning `older` itself leaves the stored row as it is.

        Args:
            older: what was there.
            newer: what came later.
        """
        ...


_MERGERS: dict[str, RecordMerger] = {}


def register_merger(name: str, merger: RecordMerger) -> None:
    """Merge the records of tables that name this payload class or merge strategy by `merger`, in this process.

    Args:
        name: `hoodie.compaction.payload.class` or `hoodie.record.merge.strategy.id` as the table has it.
        merger: how two versions of a record become one.

    Example:
        >>> class KeepFirst:
        ...     def merge(self, older, newer):
        ...         return older
        >>> register_merger("com.example.KeepFirst", KeepFirst())
    """
    _MERGERS[name] = merger


def merger_of_module(module: str) -> str | None:
    """Return the name under which a merger is registered whose class is in a module, or below it; None when there is none."""
    indices = {name: f"{type(merger).__module__}." for name, merger in _MERGERS.items()}
    return next((name for name, index in indices.items() if index.startswith(f"{module}.")), None)


def find_merger(*names: str | None) -> RecordMerger:
    """Return the merger registered under the first of these names that has one.

    Raises:
        UnsupportedError: none has; names what the table asks for.
    """
    for name in names:
        if name is not None and name in _MERGERS:
            return _MERGERS[name]
    requested = " and ".join(name for name in names if name) or "no class at all"
    raise UnsupportedError(
        f"hoodie.record.merge.mode=CUSTOM: the table merges records by {requested}, which is not known here (in hoodie.properties). "
        "Register a Python implementation: pyhudi.register_merger(name, merger)."
    )
