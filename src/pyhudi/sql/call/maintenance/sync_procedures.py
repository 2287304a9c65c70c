"""The procedure that synchronises a table with a Hive metastore. Rules: `HiveSyncProcedure`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row

#: The options that arguments stand for.
_OPTIONS: Final = {
    "metastore_uri": "hoodie.datasource.hive_sync.metastore.uris",
    "username": "hoodie.datasource.hive_sync.username",
    "password": "hoodie.datasource.hive_sync.password",
    "use_jdbc": "hoodie.datasource.hive_sync.use_jdbc",
    "mode": "hoodie.datasource.hive_sync.mode",
    "partition_fields": "hoodie.datasource.hive_sync.partition_fields",
    "partition_extractor_class": "hoodie.datasource.hive_sync.partition_extractor_class",
    "strategy": "hoodie.datasource.hive_sync.table.strategy",
    "sync_incremental": "hoodie.meta.sync.incremental",
}


def _sync(call: ProcedureCall) -> Iterator[Row]:
    """Synchronise the table under the name and in the database that it has in the session's catalog, unless options say otherwise."""
    entry = call.entry()
    names = {}
    if entry is not None:
        names = {"hoodie.datasource.hive_sync.database": entry.database, "hoodie.datasource.hive_sync.table": entry.name}
    given = {key: value for argument, key in _OPTIONS.items() if (value := call.text(argument)) is not None}
    yield from ((str(result),) for result in call.open().services.sync(options={**names, **call.options(), **given}))


PROCEDURES: Final = (
    Procedure(
        "hive_sync",
        "Registers a table, its columns and partitions in a Hive metastore, or brings its entry there up to date.",
        (Parameter("table", default=REQUIRED), *(Parameter(name) for name in _OPTIONS), Parameter("options")),
        (Column("result"),),
        _sync,
    ),
)
