"""The part of `table.services` that builds and drops indexes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyhudi.errors import UsageError
from pyhudi.progress import progress_bar
from pyhudi.service.indexes import IndexChange, IndexRequest, check_types
from pyhudi.service.table_service import MODES, ServiceMode
from pyhudi.table.maintenance.savepoint_services import SavepointServices


@dataclass(frozen=True, slots=True)
class IndexServices(SavepointServices):
    """Indexes of one table.

    Example:
        >>> table.services.index(rebuild=True, dry_run=True).dropped
        ()
    """

    @progress_bar("index")
    def index(
        self,
        name: str | None = None,
        columns: str | Sequence[str] = (),
        *,
        using: str | None = None,
        options: Mapping[str, str] | None = None,
        drop: bool = False,
        rebuild: bool = False,
        if_exists: bool = False,
        if_not_exists: bool = False,
        dry_run: bool = False,
        mode: ServiceMode = "both",
        instant: str | None = None,
        lenient: bool | None = None,
    ) -> IndexChange:
        """Make an index, drop one, or build the whole metadata table again.

        Writers continue while an index is built. A build that was killed is run by `mode="execute"`, by asking for the same index again, or
        rolled back by `rollback`.

        Args:
            name: of the index; `record_index` is that of the record keys, `column_stats`, `partition_stats` and `bloom_filters` without
                columns are those that options of writes ask for as well.
            columns: what it is of, one column for all but the record index.
            using: `column_stats` or `bloom_filters` of an expression; a secondary index without it.
            options: `expr` and its arguments (`format`, `pos`, `len`, `days`, `timeZone`), options of bloom filters, or `isPartitioned` for
                a record index by partition.
            drop: drop it instead.
            rebuild: build the metadata table and all indexes again; without a name.
            if_exists: with `drop`: do nothing when there is no such index.
            if_not_exists: do nothing when the index exists already.
            dry_run: only return what would be done.
            mode: `schedule` (plan the index and leave that on the timeline), `execute` (run what is planned; without a name) or `both`.
            instant: run the pending build of this requested time, and no other.
            lenient: deprecated name of `if_exists` and `if_not_exists`.

        Returns:
            The partitions of the metadata table that were built, dropped or planned.

        Raises:
            UsageError: the arguments do not fit each other or the table, or there is such an index already, or none.
            SchemaError: a column does not exist, or its type cannot be served.
            UnsupportedError: the table cannot have indexes.
            ConflictError: another process builds indexes of the table.

        Example:
            >>> table.services.index("by_fare", "fare").built
            ('record_index', 'secondary_index_by_fare')
            >>> table.services.index("by_day", "ts", using="column_stats", options={"expr": "from_unixtime"}).built
            ('expr_index_by_day',)
            >>> table.services.index("by_fare", drop=True).dropped
            ('secondary_index_by_fare',)
        """
        if lenient is not None:
            warnings.warn("index(lenient=...) is now index(if_exists=...) or index(if_not_exists=...)", DeprecationWarning, stacklevel=2)
            if_exists, if_not_exists = lenient and drop, lenient and not drop
        executes = mode == "execute" or instant is not None
        _check_index_arguments(mode, name, drop=drop, rebuild=rebuild, executes=executes, if_exists=if_exists, if_not_exists=if_not_exists)
        if executes:
            return _together(self._indexing.run_pending(instant, dry_run=dry_run))
        if rebuild:
            return self._indexing.rebuild(dry_run=dry_run)
        if name is None:
            raise UsageError("index() needs the name of an index to make or to drop, or rebuild=True")
        check_types(name, columns, using, options)
        if drop:
            return self._indexing.drop(name, if_exists=if_exists, dry_run=dry_run)
        request = IndexRequest(name, (columns,) if isinstance(columns, str) else tuple(columns), using, options or {})
        return self._indexing.create(request, if_not_exists=if_not_exists, dry_run=dry_run, only_plan=mode == "schedule")


def _together(changes: Sequence[IndexChange]) -> IndexChange:
    return IndexChange(
        built=tuple(name for change in changes for name in change.built),
        planned=tuple(name for change in changes for name in change.planned),
        seconds=sum(change.seconds for change in changes),
        instant=changes[-1].instant if changes else None,
    )


def _check_index_arguments(
    mode: str, name: str | None, *, drop: bool, rebuild: bool, executes: bool, if_exists: bool, if_not_exists: bool
) -> None:
    """Refuse arguments of `index` that do not fit each other."""
    if mode not in MODES:
        raise UsageError(f"mode is '{mode}'; it can be {', '.join(MODES)}")
    if executes and (name is not None or drop or rebuild or mode == "schedule"):
        raise UsageError("index(mode='execute') runs what is planned: give it no name, and nothing to drop, plan or rebuild")
    if rebuild and (name is not None or drop):
        raise UsageError("index(rebuild=True) rebuilds all indexes: give it no name, and nothing to drop")
    if (if_exists and not drop) or (if_not_exists and (drop or name is None)):
        raise UsageError("index(if_exists=True) goes with drop=True, index(if_not_exists=True) with an index to make")
