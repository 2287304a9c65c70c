"""Which options have an effect on which kind of read: one that has none is refused by Python's methods, and warned of by Spark's readers.

Rules: `DataSourceReadOptions`, whose options Apache Hudi ignores where they mean nothing. Scripts of Apache Hudi may give one set of
options to all their reads, so that Spark's readers do not refuse them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.read.incremental.changes_options import BEGIN, END, FILTERS, FORMAT, PATH_GLOB, TIMES_OF_VERSION
from pyhudi.read.incremental.incremental import SCHEMA_AT_END, ChangesQuery
from pyhudi.read.incremental.instant_range import FULL_SCAN, HOLES
from pyhudi.read.snapshot.find_table import BASE_PATH, PATHS
from pyhudi.read.snapshot.query_type import (
    AS_OF,
    DATA_SKIPPING,
    MERGE_SIZE,
    MERGE_TYPE,
    METADATA_TABLE,
    PATH_VALUES,
    QUERY_TYPE,
    SHOWS_INSTANTS,
    SHOWS_SLICES,
    VERIFY_CHECKSUMS,
    SnapshotQuery,
)
from pyhudi.read.snapshot.unused_indexes import INDEX_SWITCHES
from pyhudi.spec.config.config_key import ConfigKey
from pyhudi.spec.config.config_keys import find_key
from pyhudi.spec.config.read_keys import READING
from pyhudi.spec.options import Options, note_without_effect, warn_without_effect


class ReadKind(Enum):
    """What is read; the value is how a message words it."""

    STATE = "a read of one state of the table"
    CHANGES = "an incremental read"
    CHANGE_DATA = "a read of change data"
    STREAM = "a stream"
    VIEW = "a read of file slices or instants"


_STATE, _CHANGES, _DATA, _STREAM, _VIEW = ReadKind
_ANY: Final = frozenset(ReadKind)
_HAVE_EFFECT: Final = {
    **dict.fromkeys((QUERY_TYPE, BASE_PATH, SHOWS_SLICES, SHOWS_INSTANTS), _ANY),
    **dict.fromkeys((AS_OF, MERGE_TYPE, PATH_VALUES), frozenset({_STATE})),
    **dict.fromkeys((METADATA_TABLE, DATA_SKIPPING, MERGE_SIZE, VERIFY_CHECKSUMS, *INDEX_SWITCHES), frozenset({_STATE, _CHANGES})),
    PATHS: frozenset({_STATE, _CHANGES, _DATA, _VIEW}),
    "pyhudi.merge.folder": frozenset({_STATE, _CHANGES}),
    **dict.fromkeys((BEGIN, END, TIMES_OF_VERSION), frozenset({_CHANGES, _DATA})),
    **dict.fromkeys((FORMAT, SCHEMA_AT_END, HOLES), frozenset({_CHANGES, _DATA, _STREAM})),
    **dict.fromkeys((PATH_GLOB, FILTERS), frozenset({_CHANGES, _DATA})),
    FULL_SCAN: frozenset({_CHANGES}),
    **dict.fromkeys(
        ("hoodie.datasource.streaming.startOffset", "hoodie.datasource.read.streaming.table.version", "pyhudi.streaming.max.commits"),
        frozenset({_STREAM}),
    ),
    **dict.fromkeys(
        ("hoodie.datasource.read.table.valued.function.filesystem.relation.subpath", f"{SHOWS_INSTANTS}.archived"), frozenset({_VIEW})
    ),
}
#: What only Spark's readers look at.
_OF_SPARK: Final = frozenset({"pyhudi.merge.folder"})
_OF_READS: Final = frozenset(key.name for key in READING)


def refuse_without_effect(given: Options, kind: ReadKind) -> None:
    """Refuse options that have no effect on a read without Spark, unless they ask for what holds anyway.

    Args:
        given: what the caller gave, without defaults of files or sessions.
        kind: what is read.

    Raises:
        OptionError: names the option, and what it is for.
    """
    for key, kinds in _without_effect(given, kind, _OF_SPARK):
        if key.name in _OF_SPARK:
            raise OptionError(f"{key.name} is for reads through Spark, which this is not: leave it out.")
        raise OptionError(f"{key.name} has no effect on {kind.value}, it is for {_words(kinds)}: leave it out{_advice(kind, kinds)}.")
    _note_others(given)


def kind_of(query: SnapshotQuery | ChangesQuery) -> ReadKind:
    """Return what a query reads."""
    if isinstance(query, SnapshotQuery):
        return ReadKind.STATE
    return ReadKind.CHANGE_DATA if query.change_data else ReadKind.CHANGES


def warn_of_no_effect(given: Options, kind: ReadKind) -> None:
    """Warn, once for each, of options of a reader that have no effect on what it reads."""
    for key, kinds in _without_effect(given, kind):
        hint = f"; an incremental read also needs {QUERY_TYPE}=incremental" if kind is _STATE and _CHANGES in kinds else ""
        warn_without_effect(key.name, f"is for {_words(kinds)}, and this is {kind.value}{hint}")
    _note_others(given)


def _without_effect(
    given: Options, kind: ReadKind, others: frozenset[str] = frozenset()
) -> Iterator[tuple[ConfigKey, frozenset[ReadKind]]]:
    for name, value in given.given.items():
        key = find_key(name)
        kinds = _HAVE_EFFECT.get(key.name) if key is not None else None
        if key is None or kinds is None or value.strip().lower() == (key.default or "").lower():
            continue
        if kind not in kinds or key.name in others:
            yield key, kinds


def _note_others(given: Options) -> None:
    """Note options of writes, which scripts give to reads in one set with those of reads."""
    for name in given.given:
        key = find_key(name)
        if key is not None and key.name not in _HAVE_EFFECT and key.name not in _OF_READS and not key.name.startswith("pyhudi.options."):
            note_without_effect(key.name, "is for writes, and this is a read")


def _words(kinds: frozenset[ReadKind]) -> str:
    return " or ".join(kind.value for kind in ReadKind if kind in kinds)


def _advice(kind: ReadKind, kinds: frozenset[ReadKind]) -> str:
    if kind is _STATE and _CHANGES in kinds:
        return ", or call table.changes()"
    return ", or call table.to_arrow()" if _STATE in kinds else ""
