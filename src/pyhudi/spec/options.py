"""The options of one call, resolved: canonical names, checked values, nothing ignored.

What pyhudi does with a key is in `pyhudi.spec.config.config_keys`. A value that a key cannot have, two names of one key with different
values, and a key whose feature is not served are each refused, by name and before anything is read or written. Keys of services that change
no row are accepted with one warning, unless `pyhudi.options.unserved=refuse`; so are unknown `hoodie.*` keys
(`pyhudi.spec.config.unknown_keys`), unless `pyhudi.options.unknown=refuse`. Names that are none of Hudi's are Spark's, or another
process's.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.config.config_key import ConfigKey, Status
from pyhudi.spec.config.config_keys import find_key, suggestion
from pyhudi.spec.config.recorded_keys import current_name, is_older_name, recorded_keys
from pyhudi.spec.config.unknown_keys import UNKNOWN, check_unknown
from pyhudi.spec.config.values import check_value
from pyhudi.spec.table.key_generator import KeyGeneratorType, key_generator_of_class
from pyhudi.spec.table.payload_class import PAYLOADS

_LOG = logging.getLogger("pyhudi.options")
_SPARK_PREFIX = "spark."
_HUDI_PREFIX = "hoodie."
_OPTION_PREFIXES = (_HUDI_PREFIX, "pyhudi.")
_UNSERVED = "pyhudi.options.unserved"
#: Names of options of which the log says something once; names are the user's, so there may be any number.
_MOST_NOTED: Final = 1024
_REFUSE = "refuse"
_NOTES_PREFIX = "hoodie.datasource.write.commitmeta.key.prefix"
_KEY_GENERATOR_CLASS = "hoodie.datasource.write.keygenerator.class"
_KEY_GENERATOR_TYPE = "hoodie.datasource.write.keygenerator.type"
_INDEX_CLASS, _INDEX_TYPE = "hoodie.index.class", "hoodie.index.type"
#: Apache Hudi's indexes on Spark by the name of their class.
_INDEXES: Final = {
    "HoodieBloomIndex": "BLOOM",
    "HoodieGlobalBloomIndex": "GLOBAL_BLOOM",
    "HoodieInMemoryHashIndex": "INMEMORY",
    "HoodieSimpleIndex": "SIMPLE",
    "HoodieGlobalSimpleIndex": "GLOBAL_SIMPLE",
    "HoodieSimpleBucketIndex": "BUCKET",
    "HoodieSparkConsistentBucketIndex": "BUCKET",
    "SparkMetadataTableRecordIndex": "RECORD_INDEX",
    "SparkMetadataTableGlobalRecordLevelIndex": "GLOBAL_RECORD_LEVEL_INDEX",
    "SparkMetadataTableRecordLevelIndex": "RECORD_LEVEL_INDEX",
}
_PAYLOAD_CLASS = "hoodie.datasource.write.payload.class"
_MERGE_MODE = "hoodie.record.merge.mode"


@dataclass(frozen=True, slots=True)
class Options:
    """Served options by canonical name, as given; getters take any of a key's names.

    Example:
        >>> resolve({"primaryKey": "id"}).text("hoodie.datasource.write.recordkey.field")
        'id'
    """

    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def extra_metadata(self) -> dict[str, str]:
        """Entries that the writer wants in its commit's metadata: options whose names begin with `hoodie...commitmeta.key.prefix`."""
        return {name: value for name, value in self.given.items() if find_key(name) is None}

    @property
    def refuses_unserved(self) -> bool:
        """Whether what a service that is not there yet would do is refused, not only warned of."""
        return self.text(_UNSERVED).strip().lower() == _REFUSE

    def get(self, name: str) -> str | None:
        """Return the value as given, None when it is not given."""
        key = find_key(name)
        assert key is not None, f"{name} is not listed in pyhudi.spec.config.config_keys"
        return self.given.get(key.name)

    def text(self, name: str, *, default: str | None = None) -> str:
        """Return the value, else `default`, else the key's own default (`""` when it has none)."""
        value = self.get(name)
        if value is not None:
            return value
        key = find_key(name)
        return default if default is not None else (key.default if key else None) or ""

    def flag(self, name: str, *, default: bool | None = None) -> bool:
        """Return a boolean."""
        return self.text(name, default=None if default is None else str(default)).strip().lower() == "true"

    def integer(self, name: str, *, default: int | None = None) -> int:
        """Return a whole number."""
        return int(self.text(name, default=None if default is None else str(default)))

    def number(self, name: str, *, default: float | None = None) -> float:
        """Return a number."""
        return float(self.text(name, default=None if default is None else str(default)))


def resolve(options: Mapping[str, object]) -> Options:
    """Return the options under their canonical names; `spark.hoodie.x` loses to `hoodie.x`.

    Raises:
        OptionError: a `hoodie.*` key is unknown and refused (the nearest known one is named), is given twice with different
            values, or has a value it cannot have.
        UnsupportedError: the key asks for something that this release does not serve.
    """
    _check_mapping(options)
    stated: dict[str, tuple[str, str]] = {}
    prefix = str(options.get(_NOTES_PREFIX, "_"))
    strings = _strings(options)
    is_strict, refuses_unknown = _refuses(strings, _UNSERVED), _refuses(strings, UNKNOWN)
    for name, value in sorted(strings.items(), key=lambda option: not option[0].startswith(_SPARK_PREFIX)):
        bare_name = name.removeprefix(_SPARK_PREFIX)
        if prefix and bare_name.startswith(prefix) and find_key(bare_name) is None:
            stated[bare_name] = (name, value)
            continue
        key = _known(bare_name, refuses_unknown=refuses_unknown)
        if key is None or key.status is not Status.SERVED:
            if key is not None:
                _check_asks_nothing(key, bare_name, value, is_strict=is_strict)
            continue
        check_value(key, bare_name, value)
        current = bare_name if key.is_family else key.name
        _note_older_name(bare_name, current)
        earlier, earlier_value = stated.get(current, (name, value))
        if earlier_value != value and not earlier.startswith(_SPARK_PREFIX):
            raise OptionError(f"{earlier}={earlier_value} and {name}={value} are two names of one option: give one of them")
        stated[current] = (name, value)
    return Options(_translate_classes({key: value for key, (_, value) in stated.items()}))


def merge_options(*levels: Mapping[str, str]) -> dict[str, str]:
    """Return options of several levels as one: of a key, under any of its names, the latest level counts.

    Example:
        >>> merge_options({"preCombineField": "a", "hoodie.index.type": "SIMPLE"}, {"orderingFields": "b"})
        {'hoodie.index.type': 'SIMPLE', 'orderingFields': 'b'}
    """
    result: dict[str, str] = {}
    for level in levels:
        _check_mapping(level)
        stated = {_identity(name) for name in level}
        result = {name: value for name, value in result.items() if _identity(name) not in stated} | dict(level)
    return result


def _check_mapping(options: object) -> None:
    if not isinstance(options, Mapping):
        raise OptionError(
            f"options are {options!r:.100}, of type {type(options).__name__}; give a mapping of strings, such as {{'name': 'value'}}"
        )
    for name in options:
        if not isinstance(name, str):
            raise OptionError(f"the name of an option is {name!r:.100}, of type {type(name).__name__}; it must be a string")


def is_none_of_hudis(name: str, options: Mapping[str, str]) -> bool:
    """Tell whether a name is neither a key's nor one of the metadata of commits, whose prefix `options` may state.

    Example:
        >>> is_none_of_hudis("fs.timeout", {}), is_none_of_hudis("_job", {}), is_none_of_hudis("hoodie.table.name", {})
        (True, False, False)
    """
    bare_name, prefix = name.removeprefix(_SPARK_PREFIX), options.get(_NOTES_PREFIX, "_")
    is_note = bool(prefix) and bare_name.startswith(prefix)
    return find_key(bare_name) is None and not is_note and not bare_name.lower().startswith(_OPTION_PREFIXES)


def same_key(name: str, other: str) -> bool:
    """Tell whether two names are of one key.

    Example:
        >>> same_key("primaryKey", "spark.hoodie.datasource.write.recordkey.field")
        True
    """
    return _identity(name) == _identity(other)


def _identity(name: str) -> str:
    key = find_key(name.removeprefix(_SPARK_PREFIX))
    return name if key is None or key.is_family else key.name


def _strings(options: Mapping[str, object]) -> dict[str, str]:
    """Return values as strings: callers may give booleans and numbers, and None for an option that is not given."""
    strings = {}
    for name, value in options.items():
        if value is None:
            continue
        if not isinstance(value, str | bool | int | float):
            raise OptionError(f"{name} is a {type(value).__name__}; give a text, a number or a truth value")
        strings[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return strings


def _refuses(strings: Mapping[str, str], switch: str) -> bool:
    return any(name.removeprefix(_SPARK_PREFIX).lower() == switch and text.strip().lower() == _REFUSE for name, text in strings.items())


def _known(name: str, *, refuses_unknown: bool) -> ConfigKey | None:
    """Return the key of a name; None when it is none of Hudi's."""
    key = find_key(name)
    if key is None and name.lower().startswith(_OPTION_PREFIXES):
        check_unknown(name, is_strict=refuses_unknown)
    elif key is None:
        _note_of_others(name)
    return key


@lru_cache(_MOST_NOTED)
def _note_of_others(name: str) -> None:
    """Say in the log, once, that a name is none of Hudi's; what looks like a misspelt short name is warned of."""
    hint = suggestion(name)
    if hint and not any(prefix in hint for prefix in _OPTION_PREFIXES):
        _LOG.warning("option '%s' has no effect: Hudi has none of that name.%s", name, hint)
    else:
        _LOG.info("option '%s' has no effect: it is none of Hudi's", name)


def _check_asks_nothing(key: ConfigKey, name: str, value: str, *, is_strict: bool) -> None:
    if key.status is Status.HARMLESS:
        check_value(key, name, value)
        note_without_effect(name, key.reason)
    elif key.status is Status.UNSERVED and not is_strict:
        if not _asks_nothing(key, name, value):
            warn_unserved(name, key.reason)
    elif not _asks_nothing(key, name, value):
        advice = f"leave it out, or set it to {' or '.join(key.harmless_values)}" if key.harmless_values else "leave it out"
        # The value is not shown: it may be a password of a service that is not served.
        raise UnsupportedError(f"option '{name}' is not served with the value given: {key.reason}; {advice}")


def _asks_nothing(key: ConfigKey, name: str, value: str) -> bool:
    """Tell whether a value asks for nothing: none, ones that are listed, with commas, or Apache Hudi's default."""
    recorded = recorded_keys().get(current_name(name) or "")
    accepted = (*key.harmless_values, *((recorded.default,) if recorded is not None and recorded.default else ()))
    parts = {part for one in value.lower().split(",") if (part := one.strip())}
    return parts <= {one.lower() for one in accepted} or value.strip() in accepted


@lru_cache(_MOST_NOTED)
def warn_unserved(name: str, reason: str) -> None:
    """Warn, once, that an option asks for a service that is not there; the rows are the same without it."""
    _LOG.warning(
        "option '%s' is not served and has no effect: %s. Rows are written all the same; %s=refuse refuses it", name, reason, _UNSERVED
    )


@lru_cache(_MOST_NOTED)
def note_without_effect(name: str, reason: str) -> None:
    """Say in the log, once, that an option has no effect; `reason` continues from "it"."""
    _LOG.info("option '%s' has no effect: it %s", name, reason)


@lru_cache(_MOST_NOTED)
def warn_without_effect(name: str, reason: str) -> None:
    """Warn, once, of an option without effect that may have been meant to have one; `reason` continues from "it"."""
    _LOG.warning("option '%s' has no effect: it %s", name, reason)


@lru_cache(_MOST_NOTED)
def _note_older_name(name: str, current: str) -> None:
    if name != current and name.lower().startswith(_HUDI_PREFIX) and is_older_name(name):
        _LOG.info("option '%s' is an older name of '%s'", name, current)


def _translate_classes(given: dict[str, str]) -> dict[str, str]:
    """Replace Java class names by what they stand for, where that is a mode or a type; none is ever loaded."""
    if class_name := given.pop(_KEY_GENERATOR_CLASS, None):
        generator = key_generator_of_class(class_name)
        if generator is KeyGeneratorType.USER_PROVIDED:
            given[_KEY_GENERATOR_CLASS] = class_name
        _agree(given, _KEY_GENERATOR_TYPE, generator.value, class_name)
    if class_name := given.pop(_INDEX_CLASS, None):
        _agree(given, _INDEX_TYPE, _index_of_class(class_name), class_name)
    class_name = given.get(_PAYLOAD_CLASS, "")
    if (payload := PAYLOADS.get(class_name)) is not None and payload.is_plain:
        _agree(given, _MERGE_MODE, payload.mode.value, class_name)
    return given


def _index_of_class(class_name: str) -> str:
    name = _INDEXES.get(class_name.strip().rpartition(".")[2])
    if name is None:
        raise UnsupportedError(
            f"option '{_INDEX_CLASS}' is not served with the value given: it names Java code of your own that finds records, which Python"
            f" cannot call; name an index of Apache Hudi with {_INDEX_TYPE}"
        )
    return name


def _agree(given: dict[str, str], name: str, value: str, class_name: str) -> None:
    if given.setdefault(name, value).upper() != value:
        raise OptionError(f"{name}={given[name]} and the class {class_name} contradict each other: give one of them")
