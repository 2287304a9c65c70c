"""Making a table merge-on-read or copy-on-write. Rules: `TableCommand.changeTableType` of Apache Hudi's command line.

A copy-on-write table becomes merge-on-read by its property alone. The other way all log files are compacted first, since nobody reads them
in a copy-on-write table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import ConflictError, UsageError
from pyhudi.locks.choose_lock import lock_wait_s, with_lock_provider
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.read.snapshot.identity_check import accept_identity
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.service.service_engine import Progress
from pyhudi.spec.notebook_html import ShownResult
from pyhudi.spec.options import resolve
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig, parse_table_type
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.table.version.version_table import compact_everything, has_logs
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import locked_table
from pyhudi.write.options.non_blocking import check_mode

#: How often writers may come between the compaction and the change.
_MOST_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True, repr=False)
class TypeChange(ShownResult):
    """The change of a table's type; `origin` equals `to` when there was nothing to do. `compacted` are the compactions that ran first."""

    origin: str
    to: str
    compacted: tuple[str, ...] = ()
    dry_run: bool = False

    def __str__(self) -> str:
        if self.origin == self.to:
            return f"the table is {self.to} already"
        return f"{keys.TYPE} {'would change' if self.dry_run else 'changed'} from {self.origin} to {self.to}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        return {
            "property": keys.TYPE,
            "old_value": self.origin,
            "new_value": self.to,
            "compacted": list(self.compacted),
            "dry_run": self.dry_run,
        }


@dataclass(frozen=True, slots=True)
class TypeArguments:
    """What a caller asks for; the fields are the arguments of `Services.change_type`."""

    to: str
    compact: bool
    dry_run: bool
    options: Mapping[str, str]
    engine: Engine | None = None
    progress: Progress | None = None
    wait_s: float = 60.0


def change_table_type(storage: Storage, clock: Clock, ids: Ids, arguments: TypeArguments) -> TypeChange:
    """Change the type of a table; see `Services.change_type` for errors."""
    to = parse_table_type(arguments.to)
    options = resolve(arguments.options)
    storage, wait_s = with_lock_provider(storage, options), lock_wait_s(options, arguments.wait_s)
    compacted: tuple[str, ...] = ()
    for _ in range(_MOST_ATTEMPTS):
        with locked_table(storage, wait_s, clock, ids) as locked:
            check_mode(options, TableConfig({**locked.config.properties, keys.TYPE: to}))
            check_notes(storage, locked.config, locked.timeline)
            change = TypeChange(locked.config.table_type, to, compacted, arguments.dry_run)
            if change.origin == to or arguments.dry_run:
                return change
            table = roll_back_failed_writes(locked)
            if not has_logs(table):
                stored = TableConfig({**load_properties(storage), keys.TYPE: to})
                accept_identity(storage, stored, before=locked.config)
                store_properties(storage, {keys.TYPE: to}, clock.now())
                accept_identity(storage, stored)
                return change
        if not arguments.compact:
            raise UsageError(f"table {storage.uri} has rows in log files, which a copy-on-write table has not: let them be compacted.")
        compacted += compact_everything(storage, clock, ids, arguments.options, arguments.engine, arguments.progress)
    raise ConflictError(
        f"writers put new log files into table {storage.uri} while it was compacted, {_MOST_ATTEMPTS} times: it is still"
        f" {change.origin}. Let them pause, and try again."
    )
