"""Names that begin as Hudi's do and are none of its keys.

Apache Hudi ignores them. Here each is a warning with the nearest known name, unless it is so near to a key that decides which rows are
stored or deleted, where, or under which key that it must be a misspelling of it: then it is an error.
"""

from __future__ import annotations

import logging
from functools import cache, lru_cache
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.spec.config.config_key import Status
from pyhudi.spec.config.config_keys import KEYS, concerns_table, suggestion

#: The option that refuses all unknown names.
UNKNOWN: Final = "pyhudi.options.unknown"
_LOG = logging.getLogger("pyhudi.options")
_PYHUDI_PREFIX = "pyhudi."
#: A name that differs from a key by at most so many letters is a misspelling of it.
_MOST_EDITS: Final = 2
#: Names are the user's, so there may be any number.
_MOST_NOTED: Final = 1024
#: Besides what concerns the table itself: the operation, which rows a query returns, writers, and what deletes files.
_DECIDING = (
    "hoodie.datasource.write.operation",
    "hoodie.datasource.query.",
    "hoodie.datasource.read.",
    "hoodie.datasource.write.keygenerator.",
    "hoodie.write.concurrency.",
    "hoodie.write.lock.",
    "hoodie.clean.",
    "hoodie.cleaner.",
    "hoodie.partition.ttl.",
    "hoodie.bucket.index.",
    "hoodie.index.type",
)
#: Keys of earlier releases that Apache Hudi 1.2.0 ignores, as scripts still have them, and what holds without them.
_FORMER: Final = {
    "hoodie.archive.merge.enable": "archived instants are merged in any case",
    "hoodie.archive.merge.files.batch.size": "archived instants are merged in any case",
    "hoodie.archive.merge.small.file.limit.bytes": "archived instants are merged in any case",
    "hoodie.assume.date.partitioning": "partitions are the folders with a partition metafile",
    "hoodie.auto.commit": "each write commits",
    "hoodie.clustering.preserve.commit.metadata": "a clustering keeps the commit time of each record",
    "hoodie.datasource.hive_sync.assume_date_partitioning": "hoodie.datasource.hive_sync.partition_fields names the partition columns",
    "hoodie.datasource.write.schema.canonicalize": "rows are written with the columns and types of the table",
    "hoodie.insert.dedup.shuffle.parallelism": "hoodie.datasource.write.insert.drop.duplicates needs no number of tasks",
    "hoodie.metadata.clean.async": "the metadata table is cleaned by the writes of its table",
    "hoodie.metadata.cleaner.commits.retained": "the metadata table is cleaned by the writes of its table",
    "hoodie.metadata.cleaner.parallelism": "the metadata table is cleaned by the writes of its table",
    "hoodie.metadata.fallback.enable": "files are listed where there is no metadata table",
    "hoodie.metadata.populate.meta.fields": "the metadata table has no meta columns",
    "hoodie.metadata.sync.enable": "each commit writes the metadata table",
    "hoodie.metadata.validate": "`pyhudi validate` compares the metadata table with the files",
    "hoodie.writestatus.failure.fraction": "a write is committed whole, or not at all",
}
#: Whatever begins so decides on partition paths.
_DECIDING_WHOLLY = ("hoodie.keygen.", "hoodie.deltastreamer.keygen.")


def check_unknown(name: str, *, is_strict: bool) -> None:
    """Warn once of an unknown name that begins with `hoodie.` or `pyhudi.`, or refuse it.

    Args:
        name: as given, without `spark.`.
        is_strict: whether every unknown name is refused (`pyhudi.options.unknown=refuse`).

    Raises:
        OptionError: it is refused; the nearest known name is given.

    Example:
        >>> check_unknown("hoodie.datasource.write.opration", is_strict=False)
        Traceback (most recent call last):
        ...
        pyhudi.errors.OptionError: option 'hoodie.datasource.write.opration' is unknown. Did you mean 'hoodie.datasource.write.operation'?
    """
    misspelt = "" if name.lower() in _FORMER else _misspelt_key(name.lower())
    if misspelt:
        raise OptionError(f"option '{name}' is unknown. Did you mean '{misspelt}'?")
    if name.lower() in _FORMER and not is_strict:
        _note_former(name, _FORMER[name.lower()])
        return
    if is_strict or name.lower().startswith((_PYHUDI_PREFIX, *_DECIDING_WHOLLY)):
        raise OptionError(f"option '{name}' is unknown.{suggestion(name)}")
    _warn(name)


@lru_cache(_MOST_NOTED)
def _note_former(name: str, instead: str) -> None:
    _LOG.warning("option '%s' has no effect: only earlier releases of Apache Hudi have it (%s)", name, instead)


@lru_cache(_MOST_NOTED)
def _warn(name: str) -> None:
    _LOG.warning("option '%s' has no effect: Apache Hudi has none of that name.%s %s=refuse refuses it", name, suggestion(name), UNKNOWN)


@lru_cache(_MOST_NOTED)
def _misspelt_key(lowered: str) -> str:
    """Return the deciding key that a name differs from by one or two letters, else an empty string."""
    near = ((edits_between(lowered, known.lower()), known) for known in _deciding_names() if abs(len(known) - len(lowered)) <= _MOST_EDITS)
    edits, known = min(near, default=(_MOST_EDITS + 1, ""))
    return known if edits <= _MOST_EDITS else ""


@cache
def _deciding_names() -> tuple[str, ...]:
    listed = (key for key in KEYS if key.status in (Status.SERVED, Status.REFUSED) and not key.is_family)
    names = (name for key in listed for name in (key.name, *key.aliases))
    return tuple(name for name in names if name.startswith("hoodie.") and (concerns_table(name) or name.startswith(_DECIDING)))


def edits_between(one: str, other: str) -> int:
    """Return how many letters must be inserted, removed, replaced or swapped with their neighbour to make one text the other.

    This is the optimal string alignment distance.

    Example:
        >>> edits_between("opration", "operation"), edits_between("kye", "key")
        (1, 1)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        current = [number]
        for column, letter_of_other in enumerate(other, 1):
            edits = min(row[column] + 1, current[-1] + 1, row[column - 1] + (letter != letter_of_other))
            if number > 1 < column and letter == other[column - 2] and one[number - 2] == letter_of_other:
                edits = min(edits, before[column - 2] + 1)
            current.append(edits)
        before, row = row, current
    return row[-1]
