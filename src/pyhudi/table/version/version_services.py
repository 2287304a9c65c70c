"""The part of `table.services` that changes what a table is: its version, and its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyhudi.engine.engine_protocol import Engine
from pyhudi.progress import progress_bar
from pyhudi.service.service_engine import Progress
from pyhudi.service.upgrade import VersionChange
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.version.type_table import TypeArguments, TypeChange, change_table_type
from pyhudi.table.version.version_table import VersionArguments, change_table_version, parse_version
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids


def _nothing() -> None:
    """Do nothing: nobody holds the properties."""


@dataclass(frozen=True, slots=True)
class VersionServices:
    """Upgrade, downgrade and change of type of one table.

    Example:
        >>> table.services.upgrade(dry_run=True).to
        9
    """

    storage: Storage
    clock: Clock
    ids: Ids
    wait_s: float = 60.0
    #: Is called when the properties of the table have changed, for a caller who holds them.
    refresh: Callable[[], None] = field(default=_nothing, compare=False)

    @progress_bar("upgrade")
    def upgrade(
        self,
        to: int | str = 9,
        *,
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> VersionChange:
        """Move the table to a later table version: 8 (Hudi 1.0) or 9 (Hudi 1.1 and later). Older releases cannot read it then.

        Failed writes are rolled back and, of a merge-on-read table, all log files compacted first. Readers continue meanwhile. A run that
        was cut leaves a table of the old version or of the new one; the next run does what is left.

        Args:
            to: the version, as a number or by Apache Hudi's name (`"NINE"`).
            dry_run: only return what would be done.
            options: `hoodie.*` options of the compaction.
            engine: runs the tasks of the compaction; threads of this process by default.
            progress: called with how many of these tasks are done.

        Returns:
            Both versions, what was compacted and rolled back, and the properties that changed.

        Raises:
            UsageError: the version is older than the table's.
            UnsupportedError: the table has something that the version cannot express; nothing was changed.
            ConflictError: writers did not let it come to an end.
            CorruptTableError: a file of the timeline or of its archive is damaged; nothing was changed.

        Example:
            >>> print(table.services.upgrade(9))
            the table has version 9 already
        """
        arguments = VersionArguments(parse_version(to), True, dry_run, options or {}, engine, progress, self.wait_s)
        return self._change_version(arguments)

    @progress_bar("downgrade")
    def downgrade(
        self,
        to: int | str,
        *,
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> VersionChange:
        """Move the table to an earlier table version: 8, or 6, which Hudi 0.14 and 0.15 read. Arguments and errors as in `upgrade`.

        Indexes that the version does not know are dropped; other features that it lacks are refused by name.

        Example:
            >>> table.services.downgrade(8, dry_run=True).properties["hoodie.table.version"]
            '8'
        """
        arguments = VersionArguments(parse_version(to), False, dry_run, options or {}, engine, progress, self.wait_s)
        return self._change_version(arguments)

    @progress_bar("change of table type")
    def change_type(
        self,
        to: str,
        *,
        compact: bool = True,
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> TypeChange:
        """Make the table merge-on-read or copy-on-write; on the way to copy-on-write all log files are compacted first.

        Args:
            to: `COPY_ON_WRITE` or `MERGE_ON_READ`, or the short form `COW` or `MOR`.
            compact: whether log files may be compacted; without it a table that has some is refused.
            dry_run: only return what would be done.
            options: `hoodie.*` options of the compaction.
            engine: runs the tasks of the compaction; threads of this process by default.
            progress: called with how many of these tasks are done.

        Returns:
            Both types, what was compacted and rolled back, and the properties that changed.

        Raises:
            OptionError: there is no such type.
            UsageError: the table has log files that may not be compacted.
            ConflictError: writers did not let it come to an end.

        Example:
            >>> table.services.change_type("MOR", dry_run=True).to
            'MERGE_ON_READ'
        """
        arguments = TypeArguments(to, compact, dry_run, options or {}, engine, progress, self.wait_s)
        try:
            return change_table_type(self.storage, self.clock, self.ids, arguments)
        finally:
            if not dry_run:
                self.refresh()

    def _change_version(self, arguments: VersionArguments) -> VersionChange:
        try:
            return change_table_version(self.storage, self.clock, self.ids, arguments)
        finally:
            if not arguments.dry_run:
                self.refresh()
