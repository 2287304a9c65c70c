"""The procedure that archives old instants. Rules: `ArchiveCommitsProcedure`, `ArchivalUtils.getMinAndMaxInstantsToKeep`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.spec.options import resolve
from pyhudi.sql.call.procedure import Column, Parameter, Procedure, ProcedureCall, Row

_ARCHIVED: Final = 0
#: The options that hold where an argument is not given.
_KEYS: Final = {
    "min_commits": "hoodie.keep.min.commits",
    "max_commits": "hoodie.keep.max.commits",
    "retain_commits": "hoodie.clean.commits.retained",
}


def _archive(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    if not call.flag("enable_metadata") and table.config.metadata_partitions:
        raise UnsupportedError(
            f"CALL {call.procedure.name}: {table.config.name} has a metadata table, which tells by the commits of the table whether it"
            " knows all of them: it cannot be left out."
        )
    stated = call.options()
    options = resolve(stated)
    fewest, most, retained = (
        call.number(name) if call.arguments[name] is not None else options.integer(key) for name, key in _KEYS.items()
    )
    if not 0 < fewest < most:
        raise UsageError(
            f"CALL {call.procedure.name}: min_commits is {fewest} and max_commits {most}; give 1 or more, and a greater number."
        )
    behind_cleaning = retained + 1
    if fewest < behind_cleaning:
        fewest, most = behind_cleaning, most + behind_cleaning - fewest
    limits = {"hoodie.keep.min.commits": str(fewest), "hoodie.keep.max.commits": str(most)}
    table.services.archive(options={**stated, **limits})
    yield (_ARCHIVED,)


PROCEDURES: Final = (
    Procedure(
        "archive_commits",
        "Moves old instants from the active timeline to the archive.",
        (
            Parameter("table"),
            Parameter("path"),
            Parameter("min_commits", "int"),
            Parameter("max_commits", "int"),
            Parameter("retain_commits", "int"),
            Parameter("enable_metadata", "boolean", True),
        ),
        (Column("result", "int"),),
        _archive,
    ),
)
