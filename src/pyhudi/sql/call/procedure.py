"""What a procedure takes, what it answers, and what it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pyspark.sql import SparkSession

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import OptionError, TableNotFound, UsageError
from pyhudi.locks.choose_lock import options_of_lock
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spec.options import resolve
from pyhudi.sql.statement import sql_settings as settings
from pyhudi.sql.statement.statement import Statement
from pyhudi.table.hudi_table import HudiTable
from pyhudi.write.options.non_blocking import check_mode

#: Marks a parameter that has to be given.
REQUIRED: Final = object()
Row: TypeAlias = Sequence[object]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument: its name, its type as Spark's SQL names it, and what holds when it is not given."""

    name: str
    type: str = "string"
    default: object = None

    @property
    def is_required(self) -> bool:
        """True when there is no default."""
        return self.default is REQUIRED


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the answer."""

    name: str
    type: str = "string"


@dataclass(frozen=True)
class ProcedureCall:
    """A call on its way: the session and the values of all parameters."""

    statement: Statement
    procedure: Procedure
    arguments: Mapping[str, Any]

    def text(self, name: str) -> str | None:
        """Return a text argument, None when it is not given or empty."""
        value = self.arguments[name]
        return None if value in (None, "") else str(value)

    def number(self, name: str) -> int:
        """Return a whole number."""
        return int(self.arguments[name])

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        return bool(self.arguments[name])

    def threads(self, name: str) -> LocalEngine:
        """Return an engine of at most as many threads as an argument says.

        Raises:
            UsageError: that is none.
        """
        number = self.number(name)
        if number < 1:
            raise UsageError(f"CALL {self.procedure.name}: {name} is {number}; it takes 1 or more threads.")
        return LocalEngine(min(number, LocalEngine().threads))

    @property
    def session(self) -> SparkSession:
        """The session."""
        return self.statement.session

    def entry(self) -> CatalogTable | None:
        """Return the table of the catalog, or at ``hudi.`/path` ``, that `table` names, None when `path` is given instead.

        Raises:
            TableNotFound: there is no Hudi table of that name.
            UsageError: neither is given, or a bare path for the name.
        """
        name = self.text("table")
        if name is None:
            if "path" in self.arguments and self.text("path"):
                return None
            raise UsageError(f"CALL {self.procedure.name}: give table => 'name'{_or_path(self)}.")
        if "/" in name and "`" not in name:
            raise UsageError(f"CALL {self.procedure.name}: '{name}' is a path. Give table => 'hudi.`{name}`'{_or_path(self)}.")
        parts = catalog_table.split_name(self.session, name)
        match = catalog_table.at_path(parts[1]) if catalog_table.is_path(parts) else catalog_table.find(self.session, parts)
        if match is None:
            raise TableNotFound(f"CALL {self.procedure.name}: '{name}' is no Hudi table of this session's catalog.")
        return match

    def open(self) -> HudiTable:
        """Open the table that `table`, or else `path`, names; errors as in `entry`."""
        return HudiTable.open(self._path())

    def open_for_writing(self) -> HudiTable:
        """Open the table as `open` does, with the lock provider that the options of writes name: for procedures that take no options.

        Raises:
            OptionError: an option of the lock provider, or the concurrency mode, is wrong.
            UnsupportedError: the provider is not served, or the table cannot be written in the mode that is stated.
        """
        options = resolve(self.options())
        table = HudiTable.open(self._path(), options_of_lock(options))
        check_mode(options, table.config)
        return table

    def _path(self) -> str:
        entry = self.entry()
        return str(self.arguments["path"]) if entry is None else entry.location

    def options(self) -> dict[str, str]:
        """Return the `hoodie.*` options that hold for writes to the table, those of the argument `options` (`k=v,k=v`) first."""
        entry = self.entry()
        stated = parse_options(self.procedure.name, self.text("options") if "options" in self.arguments else None)
        return {**settings.call_options(self.session, entry), **stated}


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure; `run` yields the rows of its answer."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    run: Callable[[ProcedureCall], Iterable[Row]]


def parse_options(procedure: str, text: str | None) -> dict[str, str]:
    """Return options stated as `key=value,key=value`.

    Raises:
        OptionError: a part is none.
    """
    result = {}
    for part in (text or "").split(","):
        key, separator, value = part.partition("=")
        if part.strip() and not separator:
            raise OptionError(f"CALL {procedure}: '{part}' in options is no key=value.")
        if part.strip():
            result[key.strip()] = value.strip()
    return result


def _or_path(call: ProcedureCall) -> str:
    return " or path => '/place/of/the/table'" if "path" in call.arguments else ""
