"""Records the facts of every `hoodie.*` key of Apache Hudi from its bundle: `make record-options` writes the package's list.

A key stands in the bundle as a static `ConfigProperty` of some class: name, default, other names, since when, until when. Those, and
nothing of its documentation, go into `src/pyhudi/spec/config/hudi_keys.tsv`, one key a line. The classes are found by the text of their
files and read by reflection in a JVM; nothing of Hudi runs. Run by Apache Hudi's Python, which has py4j.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, JavaObject, launch_gateway

TARGET = Path(__file__).resolve().parent.parent / "src/pyhudi/spec/config/hudi_keys.tsv"
_PROPERTY = "org.apache.hudi.common.config.ConfigProperty"
_MARK = _PROPERTY.replace(".", "/").encode()
_HEADER = (
    "# Every key of Apache Hudi 1.2.0: name, type, default, values, other names, since, deprecated since. Made by `make record-options`.\n"
)
#: Keys of the release's own plumbing, which no user sets: they begin with an underscore.
_INTERNAL = "_"


@dataclass(frozen=True, order=True, slots=True)
class Fact:
    """One key as the bundle has it."""

    name: str
    kind: str
    default: str
    values: str
    others: str
    since: str
    deprecated: str

    def line(self) -> str:
        """The key as a line of the list."""
        cells = dataclasses.astuple(self)
        return "\t".join(cells).rstrip("\t") + "\n"


def main() -> None:
    """Read the bundle, write the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    facts = sorted(_merged(fact for fact in _facts(arguments.bundle) if not fact.name.startswith(_INTERNAL)))
    arguments.target.write_text(_HEADER + "".join(fact.line() for fact in facts), encoding="utf-8")
    print(f"{len(facts)} keys")


def _merged(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield each name once: where several classes state one name, the first default, and all that any of them says besides."""
    by_name: dict[str, Fact] = {}
    for fact in facts:
        known = by_name.setdefault(fact.name, fact)
        if fact.default and known.default and fact.default != known.default:
            print(f"{fact.name}: default {known.default!r} is taken, {fact.default!r} is left out")
        stated = known if known.default else fact
        by_name[fact.name] = Fact(
            fact.name,
            stated.kind,
            stated.default,
            known.values or fact.values,
            ",".join(sorted({*known.others.split(","), *fact.others.split(",")} - {""})),
            known.since or fact.since,
            known.deprecated and fact.deprecated,
        )
    yield from by_name.values()


def _facts(bundle: Path) -> Iterator[Fact]:
    jars = [bundle, *Path(pyspark.__file__).parent.glob("jars/*.jar")]
    port, token = launch_gateway(classpath=os.pathsep.join(map(str, jars)), die_on_exit=True, enable_auth=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True))
    try:
        for name in _classes(bundle):
            yield from _of_class(gateway.jvm, name)
    finally:
        gateway.shutdown()


def _classes(bundle: Path) -> list[str]:
    with zipfile.ZipFile(bundle) as archive:
        names = [name for name in archive.namelist() if name.startswith("org/apache/hudi/") and name.endswith(".class")]
        return sorted(name.removesuffix(".class").replace("/", ".") for name in names if _MARK in archive.read(name))


def _of_class(jvm: Any, name: str) -> Iterator[Fact]:
    try:
        result = jvm.java.lang.Class.forName(name)
        fields = list(result.getDeclaredFields())
    except Exception as error:  # noqa: BLE001 - classes of engines that are not in the bundle
        print(f"{name}: {str(error).splitlines()[-1]}")
        return
    holder = next((field.get(None) for field in fields if field.getName() == "MODULE$"), None)
    for field in fields:
        if field.getType().getName() != _PROPERTY:
            continue
        field.setAccessible(True)
        is_static = jvm.java.lang.reflect.Modifier.isStatic(field.getModifiers())
        if not is_static and holder is None:
            continue
        value = field.get(None if is_static else holder)
        if value is not None:
            yield _fact(value)


def _fact(value: Any) -> Fact:
    default = _text(value.defaultValue()) if value.hasDefaultValue() else ""
    return Fact(
        value.key(),
        _kind(default),
        default,
        ",".join(sorted(str(allowed) for allowed in _values(value))),
        ",".join(sorted(str(other) for other in value.getAlternatives())),
        _since(value.getSinceVersion()),
        _since(value.getDeprecatedVersion()),
    )


def _kind(default: str) -> str:
    """Return the type of a key, which its default shows: most are texts to Hudi, whatever they hold."""
    if default in {"true", "false"}:
        return "flag"
    if re.fullmatch(r"-?\d+", default):
        return "integer"
    return "number" if re.fullmatch(r"-?\d+\.\d+", default) else "text"


def _values(value: Any) -> list[Any]:
    field = value.getClass().getDeclaredField("validValues")
    field.setAccessible(True)
    return list(field.get(value) or ())


def _text(value: Any) -> str:
    """Return a default as a user writes it; a simple Java value has arrived as Python's, an enumeration's as an object."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.toString() if isinstance(value, JavaObject) else str(value)


def _since(option: Any) -> str:
    return str(option.get()) if option.isPresent() else ""


if __name__ == "__main__":
    main()
