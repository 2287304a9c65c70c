"""Which tables the service runner keeps in order, by which services, with which options: a policy, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyhudi.errors import OptionError, did_you_mean
from pyhudi.spec.options import resolve

#: In the order in which they run.
SERVICES: Final = ("clean", "compact", "cluster", "archive", "ttl")
_TABLE_KEYS: Final = ("path", "services", "options", "storage_options")
_KEYS: Final = ("tables", "services", "options", "storage_options", "interval")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class TablePolicy:
    """One table: its path, the services that it gets, in the order of `SERVICES`, and their `hoodie.*` options."""

    path: str
    services: tuple[str, ...] = SERVICES
    options: Mapping[str, str] = field(default_factory=dict)
    storage_options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServicePolicy:
    """The tables, and the seconds from the end of one round to the begin of the next; None for one round."""

    tables: tuple[TablePolicy, ...]
    interval_s: float | None = None


def parse_policy(content: object) -> ServicePolicy:
    """Return the policy that the content of a policy file states.

    Args:
        content: a mapping with `tables`, a list of paths or of mappings with `path`, `services`, `options` and `storage_options`; next to
            `tables` the same keys, for all tables, and `interval`, as `600`, `10m` or `1h`.

    Raises:
        OptionError: a key is unknown, missing or has a wrong value; the message names it.
    """
    policy = _mapping(content, "the policy")
    _check_keys(policy, _KEYS, "")
    tables = policy.get("tables")
    if not isinstance(tables, list) or not tables:
        raise OptionError("policy key 'tables' must be a list of tables, each a path or a mapping with 'path'")
    parsed = tuple(_table(one, policy, f"tables[{number}]") for number, one in enumerate(tables))
    repeated = next((one.path for number, one in enumerate(parsed) if one.path in {other.path for other in parsed[:number]}), None)
    if repeated is not None:
        raise OptionError(f"policy key 'tables' names {repeated} twice")
    interval = policy.get("interval")
    return ServicePolicy(parsed, None if interval is None else parse_interval(interval, "policy key 'interval'"))


def parse_interval(value: object, name: str) -> float:
    """Return the seconds of an interval such as `600`, `90s`, `10m`, `1h`, `1d`; `name` is what the message calls it.

    Raises:
        OptionError: it is none.
    """
    text = str(value).strip().lower()
    unit = _UNITS.get(text[-1:], 1)
    digits = text[:-1] if text[-1:] in _UNITS else text
    if isinstance(value, bool) or not digits.isascii() or not digits.isdecimal() or int(digits) == 0:
        raise OptionError(f"{name} is '{value}'; it can be a number of seconds above 0, or one with s, m, h or d behind it, as 10m")
    return float(int(digits) * unit)


def check_services(names: Iterable[object], key: str) -> tuple[str, ...]:
    """Return the services of these names in the order in which they run; `key` is what the message calls them.

    Raises:
        OptionError: one is no service.
    """
    given = [str(name).strip().lower() for name in names]
    for name in given:
        if name not in SERVICES:
            raise OptionError(f"{key}: '{name}' is no service{did_you_mean(name, SERVICES)}; there are {', '.join(SERVICES)}")
    return tuple(name for name in SERVICES if name in given)


def _table(content: object, policy: Mapping[str, Any], where: str) -> TablePolicy:
    stated = {"path": content} if isinstance(content, str) else _mapping(content, f"policy key '{where}'")
    _check_keys(stated, _TABLE_KEYS, f"{where}.")
    path = stated.get("path")
    if not isinstance(path, str) or not path:
        raise OptionError(f"policy key '{where}.path' is missing: it names the table")
    services: tuple[str, ...] = SERVICES
    for key, source in (("services", policy), (f"{where}.services", stated)):
        if "services" in source:
            names = source["services"]
            if not isinstance(names, list):
                raise OptionError(f"policy key '{key}' must be a list of services, of {', '.join(SERVICES)}")
            services = check_services(names, f"policy key '{key}'")
    options = {**_strings(policy, "options", ""), **_strings(stated, "options", f"{where}.")}
    try:
        resolve(options)
    except OptionError as error:
        raise OptionError(f"policy key '{where}.options': {error}") from error
    storage_options = {**_strings(policy, "storage_options", ""), **_strings(stated, "storage_options", f"{where}.")}
    return TablePolicy(path, services, options, storage_options)


def _check_keys(content: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in content:
        if key not in known:
            raise OptionError(f"policy key '{where}{key}' is unknown{did_you_mean(str(key), known)}; there are {', '.join(known)}")


def _strings(content: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
    values = _mapping(content.get(key) or {}, f"policy key '{where}{key}'")
    wrong = next((name for name, value in values.items() if not isinstance(value, str | int | float)), None)
    if wrong is not None:
        raise OptionError(f"policy key '{where}{key}.{wrong}' must be a text, a number, true or false")
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}


def _mapping(content: object, what: str) -> Mapping[str, Any]:
    if not isinstance(content, Mapping) or not all(isinstance(key, str) for key in content):
        raise OptionError(f"{what} must be a mapping of keys to values")
    return content
