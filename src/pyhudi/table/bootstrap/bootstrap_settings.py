"""The options of a bootstrap.

Rules: `HoodieBootstrapConfig`; the selectors in `org.apache.hudi.client.bootstrap.selector`, the translators in
`org.apache.hudi.client.bootstrap.translator`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError, did_you_mean
from pyhudi.spec.files.partition_path import unescape_value

PREFIX: Final = "hoodie.bootstrap."
BASE_PATH: Final = "hoodie.bootstrap.base.path"
SELECTOR: Final = "hoodie.bootstrap.mode.selector"
REGEX: Final = "hoodie.bootstrap.mode.selector.regex"
REGEX_MODE: Final = "hoodie.bootstrap.mode.selector.regex.mode"
TRANSLATOR: Final = "hoodie.bootstrap.partitionpath.translator.class"
PARALLELISM: Final = "hoodie.bootstrap.parallelism"
_KEY_GENERATOR_OPTIONS: Final = {
    "hoodie.bootstrap.keygen.class": "hoodie.datasource.write.keygenerator.class",
    "hoodie.bootstrap.keygen.type": "hoodie.datasource.write.keygenerator.type",
}
#: Options with one value that is served, which is Hudi's default.
_FIXED: Final = {
    "hoodie.bootstrap.full.input.provider": ("org.apache.hudi.bootstrap.SparkParquetBootstrapDataProvider",),
    "hoodie.bootstrap.index.class": (
        "org.apache.hudi.common.bootstrap.index.hfile.HFileBootstrapIndex",
        "org.apache.hudi.common.bootstrap.index.HFileBootstrapIndex",
    ),
    "hoodie.bootstrap.index.type": ("HFILE",),
    "hoodie.bootstrap.index.enable": ("true",),
}
#: What queries do with sources is decided by each query.
_OF_QUERIES: Final = "hoodie.bootstrap.data.queries.only"
_DEFAULT_PARALLELISM: Final = 1500


class BootstrapMode(enum.StrEnum):
    """What becomes of the files of a partition: their data stay in the source, or are copied."""

    METADATA_ONLY = "METADATA_ONLY"
    FULL_RECORD = "FULL_RECORD"

    @property
    def opposite(self) -> BootstrapMode:
        """The other mode."""
        return BootstrapMode.FULL_RECORD if self is BootstrapMode.METADATA_ONLY else BootstrapMode.METADATA_ONLY


class _Selector(enum.StrEnum):
    METADATA_ONLY = "MetadataOnlyBootstrapModeSelector"
    FULL_RECORD = "FullRecordBootstrapModeSelector"
    REGEX = "BootstrapRegexModeSelector"


class _Translator(enum.StrEnum):
    IDENTITY = "IdentityBootstrapPartitionPathTranslator"
    DECODED = "DecodedBootstrapPartitionPathTranslator"


@dataclass(frozen=True, slots=True)
class BootstrapSettings:
    """How a table is bootstrapped; `pattern` of None means that all partitions have the mode."""

    mode: BootstrapMode
    pattern: str | None = None
    decodes_paths: bool = False
    parallelism: int = _DEFAULT_PARALLELISM

    def mode_of(self, source_path: str) -> BootstrapMode:
        """Return the mode of a partition by its path below the source; the pattern must match all of it.

        Example:
            >>> BootstrapSettings(BootstrapMode.METADATA_ONLY, "2026/.*").mode_of("2025/12").value
            'FULL_RECORD'
        """
        if self.pattern is None or re.fullmatch(self.pattern, source_path):
            return self.mode
        return self.mode.opposite

    def partition_path(self, source_path: str) -> str:
        """Return the partition path of the table for a folder of the source."""
        return unescape_value(source_path) if self.decodes_paths else source_path


def split_options(options: Mapping[str, str]) -> tuple[BootstrapSettings, str | None, dict[str, str]]:
    """Return the settings of a bootstrap, the source that the options name, and the options that are left for the table and its writes.

    Raises:
        OptionError: an option of bootstraps is unknown, or has a value that it cannot have.
        UnsupportedError: it asks for what is not served.
    """
    given = {name.removeprefix("spark."): value for name, value in options.items() if name.removeprefix("spark.").startswith(PREFIX)}
    others = {name: value for name, value in options.items() if not name.removeprefix("spark.").startswith(PREFIX)}
    for name, target in _KEY_GENERATOR_OPTIONS.items():
        if name in given:
            stated = others.setdefault(target, given.pop(name))
            if name in options and stated != options[name]:
                raise OptionError(
                    f"{name}={options[name]} and {target}={stated}: rows are found again by one key generator; give one of them"
                )
    _check_fixed(given)
    known = {BASE_PATH, SELECTOR, REGEX, REGEX_MODE, TRANSLATOR, PARALLELISM, _OF_QUERIES, *_FIXED}
    for name in given.keys() - known:
        raise OptionError(f"{name} is no option of a bootstrap.{did_you_mean(name, sorted(known))}")
    return _settings(given), given.get(BASE_PATH), others


def _check_fixed(given: Mapping[str, str]) -> None:
    for name, served in _FIXED.items():
        if name in given and given[name].lower() not in {value.lower() for value in served}:
            raise UnsupportedError(f"{name}={given[name]} is not served: the sources are Parquet and the bootstrap index is an HFile")


def _settings(given: Mapping[str, str]) -> BootstrapSettings:
    selector = _class(given, SELECTOR, _Selector, _Selector.METADATA_ONLY)
    decodes = _class(given, TRANSLATOR, _Translator, _Translator.IDENTITY) is _Translator.DECODED
    parallelism = _positive(given.get(PARALLELISM, str(_DEFAULT_PARALLELISM)))
    if selector is not _Selector.REGEX:
        for name in (REGEX, REGEX_MODE):
            if name in given:
                raise OptionError(f"{name} says nothing without {SELECTOR}={_Selector.REGEX}")
        mode = BootstrapMode.FULL_RECORD if selector is _Selector.FULL_RECORD else BootstrapMode.METADATA_ONLY
        return BootstrapSettings(mode, None, decodes, parallelism)
    text = given.get(REGEX_MODE, BootstrapMode.METADATA_ONLY).upper()
    if text not in tuple(BootstrapMode):
        raise OptionError(f"{REGEX_MODE}={text}; it is one of {', '.join(BootstrapMode)}")
    pattern = given.get(REGEX, ".*")
    try:
        re.compile(pattern)
    except re.error as error:
        raise OptionError(f"{REGEX}={pattern} is no regular expression: {error}") from None
    return BootstrapSettings(BootstrapMode(text), pattern, decodes, parallelism)


def _class(given: Mapping[str, str], name: str, kinds: type[enum.StrEnum], default: enum.StrEnum) -> enum.StrEnum:
    """Return the kind that a class name stands for, with or without its package."""
    text = given.get(name)
    if text is None:
        return default
    short = text.rpartition(".")[2]
    if short not in tuple(kinds):
        raise UnsupportedError(f"{name}={text} is a class that pyhudi does not have; served are {', '.join(kinds)}")
    return kinds(short)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(f"{PARALLELISM}={text} is no whole number above 0")
    return int(text)
