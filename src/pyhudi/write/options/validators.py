"""The pre-commit validators that the options of a write name: Hudi's SQL validators, and the protocol of the user's own in Python.

Rules: `HoodiePreCommitValidatorConfig`, `SqlQueryPreCommitValidator`. Java classes of the user's are not loaded; a Python class is named as
`module:Class`, or registered under the name of the Java class that it stands for.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

import pyarrow as pa

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.options import Options
from pyhudi.spec.user_class import user_object

_log = logging.getLogger("pyhudi.options")
VALIDATORS: Final = "hoodie.precommit.validators"
FAILURE_POLICY: Final = f"{VALIDATORS}.failure.policy"
_JAVA: Final = "org.apache.hudi.client.validator."
#: Hudi's validators and the options that hold their queries.
QUERY_OPTIONS: Final = {
    f"{_JAVA}SqlQuerySingleResultPreCommitValidator": f"{VALIDATORS}.single.value.sql.queries",
    f"{_JAVA}SqlQueryEqualityPreCommitValidator": f"{VALIDATORS}.equality.sql.queries",
    f"{_JAVA}SqlQueryInequalityPreCommitValidator": f"{VALIDATORS}.inequality.sql.queries",
}
#: What queries call the table.
TABLE_NAME: Final = "<TABLE_NAME>"


class PreCommitValidator(Protocol):
    """Checks the rows that a write would make visible."""

    def validate(self, before: pa.Table, after: pa.Table) -> None:
        """Return when the write may be committed; raise any exception to refuse it, which rolls the write back.

        Args:
            before: the rows of the partitions that the write touches, before it, with meta columns.
            after: those after it.
        """
        ...


@dataclass(frozen=True, slots=True)
class SqlQueries:
    """The queries of one of Hudi's validators, and the option that holds them."""

    option: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of a write; with `only_warns` their refusals are logged, and the write is committed."""

    sql: tuple[SqlQueries, ...] = ()
    named: tuple[tuple[str, PreCommitValidator], ...] = ()
    only_warns: bool = False

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.sql or self.named)


_REGISTERED: dict[str, PreCommitValidator] = {}


def register_validator(name: str, validator: PreCommitValidator) -> None:
    """Validate writes that name this validator by `validator`, in this process.

    Args:
        name: what `hoodie.precommit.validators` says.
        validator: checks the rows before and after a write.

    Example:
        >>> class NoNegativeFares:
        ...     def validate(self, before, after):
        ...         if any(fare < 0 for fare in after["fare"].to_pylist()):
        ...             raise ValueError("a fare is negative")
        >>> register_validator("com.example.NoNegativeFares", NoNegativeFares())
    """
    _REGISTERED[name] = validator


def validators_of(options: Options) -> Validators:
    """Return the validators that options name.

    Raises:
        OptionError: a validator has no queries, or a query is not complete, or a class is no validator.
        UnsupportedError: a Java class is named.
    """
    names = [name.strip() for name in options.text(VALIDATORS).split(",") if name.strip()]
    sql = tuple(_queries(options, QUERY_OPTIONS[name]) for name in names if name in QUERY_OPTIONS)
    named = tuple((name, _find(name)) for name in names if name not in QUERY_OPTIONS)
    for name, option in QUERY_OPTIONS.items():
        if name not in names and options.text(option).strip():
            _warn_of_queries(option, name)
    return Validators(sql, named, options.text(FAILURE_POLICY).strip().upper() == "WARN_LOG")


@lru_cache(len(QUERY_OPTIONS))
def _warn_of_queries(option: str, name: str) -> None:
    """Warn, once, of queries that no validator runs."""
    _log.warning("option '%s' has no effect: its queries are run where %s names %s", option, VALIDATORS, name)


def _queries(options: Options, option: str) -> SqlQueries:
    queries = tuple(query.strip() for query in options.text(option).split(";") if query.strip())
    if not queries:
        raise OptionError(f"{VALIDATORS} names the validator of {option}, and that option holds no query.")
    for query in queries:
        if TABLE_NAME not in query:
            raise OptionError(f"{option}: the query '{query}' does not read {TABLE_NAME}, which stands for the table.")
        if "single.value" in option and len(query.split("#")) != 2:
            raise OptionError(f"{option}: '{query}' is no query followed by # and the value that it shall have.")
    return SqlQueries(option, queries)


def _find(name: str) -> PreCommitValidator:
    if name in _REGISTERED:
        return _REGISTERED[name]
    if ":" not in name:
        raise UnsupportedError(
            f"{VALIDATORS}={name} is not served: Java classes are not loaded. Register a Python implementation,"
            " pyhudi.register_validator(name, validator), name it as module:Class, or give one of Apache Hudi's SQL validators."
        )
    validator: PreCommitValidator = user_object(VALIDATORS, name, "validate(before, after)", "validator")
    return validator
