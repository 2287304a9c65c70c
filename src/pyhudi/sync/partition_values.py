"""Partition values by partition path, under the names of Hudi's classes.

Rules: `PartitionValueExtractor` and its implementations in `org.apache.hudi.hive`; which one is taken when none is given:
`HoodieSyncConfig.META_SYNC_PARTITION_EXTRACTOR_CLASS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias
from urllib.parse import unquote

from pyhudi.errors import OptionError, UsageError, did_you_mean
from pyhudi.spec.user_class import user_object

EXTRACTOR_CLASS: Final = "hoodie.datasource.hive_sync.partition_extractor_class"
_PACKAGE: Final = "org.apache.hudi.hive."

#: Returns the partition values of a path; none when the path is no partition.
Extractor: TypeAlias = Callable[[str], Sequence[str]]


def _multi_part(path: str) -> Sequence[str]:
    return [_value_of(part, path) for part in path.split("/")] if path else []


def _hive_style(path: str) -> Sequence[str]:
    parts = path.split("=")
    if len(parts) != 2:
        raise ValueError("it is no name=value")
    return [parts[1]]


def _single_part(path: str) -> Sequence[str]:
    return [path.replace("/", "-")]


def _slash_encoded_day(path: str) -> Sequence[str]:
    return [_date(path, 3, "yyyy/MM/dd")]


def _slash_encoded_hour(path: str) -> Sequence[str]:
    return [_date(path, 4, "yyyy/MM/dd/HH")]


def _non_partitioned(path: str) -> Sequence[str]:  # noqa: ARG001 - an extractor takes the path
    return []


_CLASSES: Final[dict[str, Extractor]] = {
    "MultiPartKeysValueExtractor": _multi_part,
    "HiveStylePartitionValueExtractor": _hive_style,
    "SinglePartPartitionValueExtractor": _single_part,
    "SlashEncodedDayPartitionValueExtractor": _slash_encoded_day,
    "SlashEncodedHourPartitionValueExtractor": _slash_encoded_hour,
    "NonPartitionedExtractor": _non_partitioned,
}


def inferred_extractor(fields: Sequence[str], *, hive_style: bool) -> str:
    """Return the name of the class that Hudi takes when none is given.

    Example:
        >>> inferred_extractor(["city"], hive_style=True)
        'HiveStylePartitionValueExtractor'
        >>> inferred_extractor(["day"], hive_style=False), inferred_extractor(["city", "day"], hive_style=False)
        ('SinglePartPartitionValueExtractor', 'MultiPartKeysValueExtractor')
    """
    if not fields:
        return "NonPartitionedExtractor"
    if len(fields) > 1:
        return "MultiPartKeysValueExtractor"
    return "HiveStylePartitionValueExtractor" if hive_style else "SinglePartPartitionValueExtractor"


def extractor_of(name: str) -> Extractor:
    """Return the extractor of a class: one of Hudi's, with or without its package, or a user's `module:Class`.

    A class of Python is made without arguments and has a method `extract_partition_values(path)`, which returns the values.

    Raises:
        OptionError: there is no such class.

    Example:
        >>> extractor_of("org.apache.hudi.hive.SlashEncodedDayPartitionValueExtractor")("2026/12/01")
        ['2026-12-01']
    """
    known = _CLASSES.get(name.removeprefix(_PACKAGE))
    if known is not None:
        return known
    if ":" not in name:
        hint = did_you_mean(name.removeprefix(_PACKAGE), list(_CLASSES))
        raise OptionError(
            f"{EXTRACTOR_CLASS}={name}: there is no such extractor.{hint} Give one of {', '.join(_CLASSES)}, or a class of"
            " Python as module:Class"
        )
    extractor: Extractor = user_object(EXTRACTOR_CLASS, name, "extract_partition_values(path)", "extractor").extract_partition_values
    return extractor


def partition_values(extractor: Extractor, class_name: str, path: str, fields: Sequence[str], *, decode: bool) -> tuple[str, ...] | None:
    """Return the values of a partition, one for each partition field; None when the extractor takes the path for no partition.

    Args:
        extractor: tells the values.
        class_name: how messages call it.
        path: the partition path, relative to the table.
        fields: the partition fields of the catalog.
        decode: whether values are URL-decoded.

    Raises:
        UsageError: the extractor cannot take the path, or returns another number of values.
    """
    advice = f"; {EXTRACTOR_CLASS} names the class that fits the paths of this table"
    try:
        values = extractor(path)
    except Exception as error:  # a user's class may raise anything
        raise UsageError(f"the extractor {class_name} cannot take the partition path '{path}': {error}{advice}") from error
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise UsageError(f"the extractor {class_name} returns {values!r:.100} for the partition path '{path}', and not a list of strings")
    if not values:
        return None
    if len(values) != len(fields):
        raise UsageError(
            f"the extractor {class_name} takes {len(values)} value(s) from the partition path '{path}', {list(values)}, for the"
            f" {len(fields)} partition field(s) {', '.join(fields)}{advice}"
        )
    return tuple(unquote(value) for value in values) if decode else tuple(values)


def _value_of(part: str, path: str) -> str:
    if "=" not in part:
        return part
    halves = part.split("=")
    if len(halves) != 2:
        raise ValueError(f"'{part}' of '{path}' is no name=value")
    return halves[1]


def _date(path: str, count: int, form: str) -> str:
    parts = path.split("/")
    if len(parts) != count:
        raise ValueError(f"it is not of the form {form}")
    numbers = [int(part.rpartition("=")[2]) for part in parts]
    return "-".join([f"{numbers[0]:04d}", *(f"{number:02d}" for number in numbers[1:])])
