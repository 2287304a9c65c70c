"""A timeline that an upgrade or a downgrade moves to another layout, as those see it who read the table meanwhile.

The files of the new layout are there, and the properties name it, before the first file of the old one is deleted. A reader that
took the properties before and lists the old folder afterwards would miss instants. So a file, made before the properties change and not
deleted with the others, says that the folder is being left: a reader that sees it, or no instant at all, looks at the properties once more.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Final, ParamSpec, TypeVar

from pyhudi.errors import ConflictError, CorruptTableError, TableNotFound
from pyhudi.spec.instant import Instant, parse_instant
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_identity import identity_note
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties

P = ParamSpec("P")
T = TypeVar("T")

#: Sorts after all instants: a listing in pages that misses one of them, since that is deleted, shows this file.
MOVED_FILE: Final = "pyhudi.timeline.moved"
#: Says that another table is being written on the path, whose data files are in this one's folders (`pyhudi.txn.recreation`).
RECREATED_FILE: Final = "pyhudi.table.recreated"


class TimelineMovedError(ConflictError):
    """The table was upgraded or downgraded between the reading of its properties and that of its timeline."""


class InstantMovedError(TimelineMovedError, FileNotFoundError):
    """The file of an instant is not where it was, nor among those of the table as it is now: another table took the path, or whoever moved
    the timeline rolled the instant back. Readers that do without the file go on.
    """


def check_not_moved(storage: Storage, config: TableConfig, names: Collection[str]) -> None:
    """Check a listing of a timeline's folder against an upgrade or downgrade that runs concurrently with this reader.

    Raises:
        TimelineMovedError: the table has another layout by now; open it again.
    """
    if MOVED_FILE in names:
        raise_if_moved(storage, config)


def raise_if_moved(storage: Storage, config: TableConfig) -> None:
    """Look at the properties once more; errors as in `check_not_moved`."""
    try:
        now = TableConfig(load_properties(storage))
    except (CorruptTableError, TableNotFound):
        return  # whoever reads the table next says what is wrong with it
    if _definition(now) != _definition(config):
        change = "created again" if now.version == config.version else f"moved from version {config.version} to {now.version}"
        raise TimelineMovedError(f"table {storage.uri} was {change} while it was read; open it again.")


def _definition(config: TableConfig) -> tuple[object, ...]:
    """Return what an upgrade, a downgrade or another table on the path changes."""
    created = config.properties.get(keys.CREATE_SCHEMA)
    return config.layout, config.timeline_path, config.name, created, identity_note(config)


def reread_when_moved(read: Callable[P, T]) -> Callable[P, T]:
    """Let a function that opens a table begin again when the table is upgraded or downgraded meanwhile."""

    @functools.wraps(read)
    def reread(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except TimelineMovedError:
            return read(*args, **kwargs)  # an upgrade takes longer than a look at the table: there is no second one

    return reread


def moved_path(storage: Storage, config: TableConfig, instant: Instant) -> str | None:
    """Return where the file of a completed instant is after the timeline has moved; None when it has not, or the file is archived."""
    try:
        raise_if_moved(storage, config)
    except TimelineMovedError:
        now = TableConfig(load_properties(storage))
        for name in storage.file_names(now.timeline_path):
            parsed = parse_instant(name, now.layout)
            if parsed is not None and (parsed.requested, parsed.action, parsed.state) == (instant.requested, instant.action, instant.state):
                return f"{now.timeline_path}/{name}"
    return None
