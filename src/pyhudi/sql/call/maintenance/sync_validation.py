"""The procedure that compares the rows of two tables as a HiveServer2 counts them. Rules: `ValidateHoodieSyncProcedure`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import TableNotFound, UsageError
from pyhudi.spark.catalog import catalog_table
from pyhudi.spec.options import resolve
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sync.hive_server import quoted
from pyhudi.sync.server_client import ServerClient, connect_server
from pyhudi.sync.sync_settings import JDBC_URL
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import day_before
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline

_COMPLETE: Final = "complete"
_LATEST: Final = "latestPartitions"


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two tables: its rows as the server counts them, and its last commit."""

    table: HudiTable
    count: int
    last_commit: str

    @property
    def name(self) -> str:
        return self.table.config.name

    def new_rows(self, after: str) -> int | None:
        """Return how many rows commits after a time have added; None when there is none."""
        timeline = load_timeline(self.table.storage, self.table.config)
        instants = [one for one in timeline.data_instants() if one.requested > after]
        if not instants:
            return None
        commits = (load_commit_metadata(self.table.storage, self.table.config, timeline, one) for one in instants)
        stats = (stat for commit in commits for some in commit.stats.values() for stat in some)
        return sum(stat.num_writes - stat.num_update_writes for stat in stats)


def _validate(call: ProcedureCall) -> Iterator[Row]:
    mode = str(call.arguments["mode"])
    if mode not in (_COMPLETE, _LATEST):
        raise UsageError(f"CALL {call.procedure.name}: mode is '{mode}'; it is one of {_COMPLETE}, {_LATEST}.")
    tables = [_open(call, argument) for argument in ("src_table", "dst_table")]
    prefix = JDBC_URL.rpartition(".")[0]
    login = {f"{prefix}.username": call.text("hive_user") or "", f"{prefix}.password": str(call.arguments["hive_pass"])}
    options = resolve({JDBC_URL: str(call.arguments["hive_server_url"]), **login})
    with contextlib.closing(connect_server(options)) as server:
        databases = (str(call.arguments["src_db"]), str(call.arguments["target_db"]))
        source, target = (_side(call, server, database, table) for database, table in zip(databases, tables, strict=True))
    ahead, behind = (target, source) if target.last_commit > source.last_commit else (source, target)
    text = f"Count difference now is count({ahead.name}) - count({behind.name}) == {ahead.count - behind.count}"
    new_rows = ahead.new_rows(behind.last_commit)
    yield (text if new_rows is None else f"{text}. Catch up count is {new_rows}",)


def _open(call: ProcedureCall, argument: str) -> HudiTable:
    name = str(call.arguments[argument])
    match = catalog_table.find(call.session, catalog_table.split_name(call.session, name))
    if match is None:
        raise TableNotFound(f"CALL {call.procedure.name}: {argument} '{name}' is no Hudi table of this session's catalog.")
    return HudiTable.open(match.location)


def _side(call: ProcedureCall, server: ServerClient, database: str, table: HudiTable) -> _Side:
    name = f"{quoted(database)}.{quoted(table.config.name)}"
    instants = load_timeline(table.storage, table.config).data_instants()
    sql = f"SELECT count(`_hoodie_commit_time`) FROM {name}{_condition(call, table)}"  # noqa: S608 - names are quoted
    return _Side(table, server.count(sql, f"counting the rows of {name}"), instants[-1].requested if instants else "0")


def _condition(call: ProcedureCall, table: HudiTable) -> str:
    """Return the condition on the partitions of the latest days; the first partition column holds the day, as `yyyy-MM-dd`."""
    if call.arguments["mode"] == _COMPLETE:
        return ""
    if not table.config.partition_fields:
        raise UsageError(f"CALL {call.procedure.name}: mode => '{_LATEST}' is for tables with partitions, {table.config.name} has none.")
    last = table.clock.now().date()
    first = day_before(last, days=call.number("partition_cnt"))
    column = quoted(table.config.partition_fields[0])
    return f" WHERE {column} > '{first}' AND {column} <= '{last}'"


PROCEDURES: Final = (
    Procedure(
        "sync_validate",
        "Compares the rows of two tables as a HiveServer2 counts them.",
        (
            *(Parameter(name, default=REQUIRED) for name in ("src_table", "dst_table", "mode", "hive_server_url", "hive_pass")),
            Parameter("src_db", default="rawdata"),
            Parameter("target_db", default="dwh_hoodie"),
            Parameter("partition_cnt", "int", 5),
            Parameter("hive_user", default=""),
        ),
        (Column("result"),),
        _validate,
    ),
)
