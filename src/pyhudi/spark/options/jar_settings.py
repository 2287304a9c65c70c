"""Spark settings that name classes or jars of Apache Hudi: what Hudi's pages tell people to start a session with.

pyhudi needs none of them, and without the jar Spark cannot load what they name. Rules: the Spark quick start of Apache Hudi's releases 0.13
to 1.1.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pyhudi.spark.options.start_failures import split_arguments

_CATALOG_PREFIX: Final = "spark.sql.catalog."
CATALOG: Final = f"{_CATALOG_PREFIX}spark_catalog"
EXTENSIONS: Final = "spark.sql.extensions"
#: Spark's own session catalog, the default of `spark.sql.catalog.spark_catalog` since Spark 4.0.
BUILTIN_CATALOG: Final = "builtin"
#: Our class (`java/hudi`): a catalog of another name that is the session catalog.
CATALOG_ALIAS: Final = "hudi.CatalogAlias"

_CLASS = re.compile(r"org\.apache\.(hudi\.|spark\.sql\.hudi\.|spark\.Hoodie)")
_PACKAGE = re.compile(r"org\.apache\.hudi:")
_JAR = re.compile(r"hudi-[\w.-]*bundle[\w.-]*\.jar")

#: Settings that hold a list, and the flag of `spark-submit` with the same meaning.
_PACKAGES_FLAG, _JARS_FLAG = "--packages", "--jars"
_LISTS: Final = {
    EXTENSIONS: _CLASS,
    "spark.kryo.registrator": _CLASS,
    "spark.jars.packages": _PACKAGE,
    "spark.jars": _JAR,
}
_FLAGS: Final = {_PACKAGES_FLAG: "spark.jars.packages", _JARS_FLAG: "spark.jars"}
_CONF_FLAGS: Final = ("--conf", "-c")


@dataclass(frozen=True, slots=True)
class Removal:
    """One value that was removed from a setting."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.value} was removed from {self.key}: pyhudi needs neither Apache Hudi's jar nor its session settings."


def is_catalog(key: str) -> bool:
    """Tell whether a setting names the class of a catalog.

    Example:
        >>> is_catalog("spark.sql.catalog.hudi"), is_catalog("spark.sql.catalog.hudi.uri")
        (True, False)
    """
    return key.startswith(_CATALOG_PREFIX) and "." not in key.removeprefix(_CATALOG_PREFIX)


def catalog_key(name: str) -> str:
    """Return the setting that names the class of a catalog."""
    return f"{_CATALOG_PREFIX}{name}"


def without_jar(key: str, value: str) -> tuple[str, list[Removal]]:
    """Return a setting's value without what names Apache Hudi's jar, and what was removed.

    Example:
        >>> without_jar("spark.sql.extensions", "a.B,org.apache.spark.sql.hudi.HoodieSparkSessionExtension")[0]
        'a.B'
        >>> without_jar("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")[0]
        'builtin'
        >>> without_jar("spark.sql.catalog.hudi", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")[0]
        'hudi.CatalogAlias'
    """
    if is_catalog(key):
        cleaned = BUILTIN_CATALOG if key == CATALOG else CATALOG_ALIAS
        return (cleaned, [Removal(key, value)]) if _CLASS.match(value) else (value, [])
    pattern = _LISTS.get(key)
    if pattern is None:
        return value, []
    items = [item.strip() for item in value.split(",")]
    removed = [item for item in items if pattern.match(posixpath.basename(item) if key == "spark.jars" else item)]
    if not removed:
        return value, []
    return ",".join(item for item in items if item not in removed), [Removal(key, item) for item in removed]


def changed_settings(settings: Mapping[str, str]) -> tuple[dict[str, str], list[Removal]]:
    """Return the settings whose values name Apache Hudi's jar, with the values that do not, and what was removed."""
    changed = {}
    removals = []
    for key, value in settings.items():
        cleaned, removed = without_jar(key, value)
        if removed:
            changed[key] = cleaned
            removals += removed
    return changed, removals


def arguments_without_jar(arguments: Iterable[str]) -> tuple[list[str], list[Removal]]:
    """Return arguments of `spark-submit` without those that name Apache Hudi's jar, and what was removed.

    Example:
        >>> arguments_without_jar(["--packages", "org.apache.hudi:hudi-spark4.0-bundle_2.13:1.2.0", "app.py"])[0]
        ['app.py']
    """
    remaining = list(arguments)
    result: list[str] = []
    removals: list[Removal] = []
    while remaining:
        argument = remaining.pop(0)
        flag, equals, value = argument.partition("=")
        if flag not in (*_FLAGS, *_CONF_FLAGS) or not (equals or remaining):
            result.append(argument)
            continue
        if not equals:
            value = remaining.pop(0)
        cleaned, removed = _flag_value_without_jar(flag, value)
        removals += removed
        if cleaned is not None:
            result += [f"{flag}={cleaned}"] if equals else [flag, cleaned]
    return result, removals


def _flag_value_without_jar(flag: str, value: str) -> tuple[str | None, list[Removal]]:
    """Return the value of a flag without the jar, None where nothing of it is left, and what was removed."""
    if flag in _FLAGS:
        cleaned, removed = without_jar(_FLAGS[flag], value)
        return cleaned or None, removed
    key, _, setting = value.partition("=")
    cleaned, removed = without_jar(key, setting)
    return (f"{key}={cleaned}" if cleaned or not removed else None), removed


def submit_text_without_jar(text: str) -> tuple[str, list[Removal]]:
    """Return the value of the environment variable `PYSPARK_SUBMIT_ARGS` without the jar, and what was removed.

    Raises:
        UsageError: a quote has no end.
    """
    arguments, removals = arguments_without_jar(split_arguments(text))
    return (shlex.join(arguments) if removals else text), removals
