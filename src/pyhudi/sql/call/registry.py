"""All procedures that are served, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyhudi.sql.call import archival_procedures as archival
from pyhudi.sql.call import cleaning_procedures as cleaning
from pyhudi.sql.call import clustering_procedures as clustering
from pyhudi.sql.call import commit_procedures as commits
from pyhudi.sql.call import compaction_procedures as compaction
from pyhudi.sql.call import file_procedures as files
from pyhudi.sql.call import log_procedures as logs
from pyhudi.sql.call import metadata_procedures as metadata
from pyhudi.sql.call import overlap_procedure as overlap
from pyhudi.sql.call import savepoint_procedures as savepoints
from pyhudi.sql.call import table_procedures as tables
from pyhudi.sql.call import timeline_procedures as timeline
from pyhudi.sql.call import ttl_procedures as ttl
from pyhudi.sql.call.help_procedure import help_procedure
from pyhudi.sql.call.maintenance import audit_procedures as audits
from pyhudi.sql.call.maintenance import bootstrap_procedures as bootstraps
from pyhudi.sql.call.maintenance import bucket_procedures as buckets
from pyhudi.sql.call.maintenance import import_procedures as imports
from pyhudi.sql.call.maintenance import pending_procedures as pending
from pyhudi.sql.call.maintenance import repair_procedures as repairs
from pyhudi.sql.call.maintenance import sync_procedures as syncs
from pyhudi.sql.call.maintenance import sync_validation
from pyhudi.sql.call.maintenance import version_procedures as versions
from pyhudi.sql.call.procedure import Procedure

_FAMILIES: Final = (
    *(commits, timeline, files, logs, compaction, clustering, cleaning, archival, savepoints, ttl, syncs, tables, metadata, versions),
    *(overlap, repairs, pending, imports, bootstraps, buckets, sync_validation, audits),
)
_KNOWN: Final = {procedure.name: procedure for family in _FAMILIES for procedure in family.PROCEDURES}

PROCEDURES: Final[Mapping[str, Procedure]] = {**_KNOWN, "help": help_procedure(_KNOWN)}
