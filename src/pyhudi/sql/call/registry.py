"""All procedures that are served, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyhudi.sql.call import archival, clustering, commits, compaction, files, logs, metadata, tables, timeline
from pyhudi.sql.call.help import help_procedure
from pyhudi.sql.call.procedure import Procedure

_FAMILIES: Final = (commits, timeline, files, logs, compaction, clustering, archival, tables, metadata)
_KNOWN: Final = {procedure.name: procedure for family in _FAMILIES for procedure in family.PROCEDURES}

PROCEDURES: Final[Mapping[str, Procedure]] = {**_KNOWN, "help": help_procedure(_KNOWN)}
