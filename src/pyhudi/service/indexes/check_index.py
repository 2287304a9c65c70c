"""What names, columns and options of an index can be, before anything is planned of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pyhudi.codec.bloom_codec import BloomType, sizing
from pyhudi.errors import OptionError, UsageError, did_you_mean
from pyhudi.metadata_table.format.index_definitions import ZONE_OPTION
from pyhudi.metadata_table.format.index_expressions import NUMBERS, is_zone, whole_number
from pyhudi.metadata_table.indexes.expression_records import BLOOM_ENTRIES, BLOOM_FPP

#: Options of bloom filters.
BLOOM_OPTIONS = ("filtertype", "numentries", "fpp", "maxentries")
#: Bits of a bloom filter that a file of the table can hold.
_MOST_BITS = (1 << 31) - 1
#: A folder of at most 255 bytes is named by an index, and so are its files, with up to 95 more: numbers, times, markers of Apache Hudi.
_LONGEST = 160


def check_types(name: Any, columns: Any, using: Any, options: Any) -> None:
    """Refuse arguments that are no strings.

    Raises:
        UsageError: says which argument is wrong.
    """
    if not isinstance(name, str):
        raise UsageError(f"the name of an index is {name!r}; it must be a text")
    listed = [columns] if isinstance(columns, str) else columns
    if not isinstance(listed, Collection) or not all(isinstance(column, str) for column in listed):
        raise UsageError(f"index '{name}': columns is {columns!r}; it must be the name of a column, or a list of names")
    if using is not None and not isinstance(using, str):
        raise UsageError(f"index '{name}': using is {using!r}; it must be the name of a type of index")
    if options is not None and not isinstance(options, Mapping):
        raise UsageError(f"index '{name}': options is {options!r}; it must be a mapping of names to values")
    for option, value in (options or {}).items():
        if not isinstance(option, str) or value is None:
            raise OptionError(f"index '{name}': the option {option!r} is {value!r}; options have strings for names, and values")


def check_length(name: str, partition: str) -> None:
    """Refuse an index by whose name files would be called that storages do not take.

    Raises:
        UsageError: says how long the name may be.
    """
    if len(partition) > _LONGEST:
        most = len(name) + _LONGEST - len(partition)
        raise UsageError(f"index '{name[:32]}...' has a name of {len(name)} letters; files are called by it, which leaves {most} at most")


def check_arguments(name: str, options: Mapping[str, str]) -> None:
    """Refuse arguments of a function that cannot be what they are for.

    Raises:
        OptionError: names the option.
    """
    for option in NUMBERS:
        if option in options and whole_number(options[option]) is None:
            raise OptionError(f"index '{name}': {option} is '{options[option]}', which is no whole number of 32 bits")
    zone = options.get(ZONE_OPTION)
    if zone is not None and not is_zone(zone):
        raise OptionError(
            f"index '{name}': {ZONE_OPTION} is '{zone}', which is no known zone; give an id such as UTC, Europe/Paris or +08:00"
        )


def check_bloom_options(name: str, options: Mapping[str, str]) -> None:
    """Refuse bloom filters that cannot be made.

    Raises:
        OptionError: names the option.
    """
    kinds = [kind.value for kind in BloomType]
    if "filtertype" in options and options["filtertype"] not in kinds:
        raise OptionError(f"index '{name}': filtertype is '{options['filtertype']}'; it can be {', '.join(kinds)}")
    for option in ("numentries", "maxentries"):
        if option in options and (whole_number(options[option]) or 0) < 1:
            raise OptionError(f"index '{name}': {option} is '{options[option]}', which is no number from 1 to 2147483647")
    fpp = options.get("fpp", str(BLOOM_FPP))
    if not _is_share(fpp):
        raise OptionError(f"index '{name}': fpp is '{fpp}', which is no number between 0 and 1")
    bits, _ = sizing(int(options.get("numentries", BLOOM_ENTRIES)), float(fpp))
    if bits > _MOST_BITS:
        raise OptionError(f"index '{name}': filters of {bits} bits are too large; give fewer numentries or a greater fpp")


def refuse_unknown_options(name: str, options: Collection[str], known: Collection[str]) -> None:
    """Refuse options that an index does not have.

    Raises:
        OptionError: names the option.
    """
    unknown = sorted(option for option in options if option not in known and not option.startswith("hoodie."))
    if unknown:
        raise OptionError(f"index '{name}': the option '{unknown[0]}' is unknown.{did_you_mean(unknown[0], known)}")


def _is_share(text: str) -> bool:
    try:
        return 0 < float(text) < 1
    except ValueError:
        return False
