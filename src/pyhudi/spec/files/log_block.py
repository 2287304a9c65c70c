"""Blocks of a log file, as values: the position of a block and its header; never its content.

Rules: Hudi technical specification, "Log file format"; `HoodieLogBlock`. The ordinals are those on disk.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

#: The only command of a command block: what one instant wrote before it counts no more.
ROLLBACK_COMMAND = "0"


class BlockType(enum.IntEnum):
    """Kinds of blocks by their ordinal. CORRUPT is never on disk: it is what a reader makes of damaged bytes."""

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    AVRO = 3
    HFILE = 4
    PARQUET = 5
    CDC = 6

    @property
    def holds_rows(self) -> bool:
        """True for the kinds whose content is rows of the table."""
        return self in (BlockType.AVRO, BlockType.HFILE, BlockType.PARQUET)


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """What a block's header map says.

    `instant` is the requested time of the action that wrote the block, for a command block the rollback's own, and
    `target_instant` what that rolls back. `replaces` are the instants whose blocks a log compaction put into this one.
    `positions` is the text on disk, to be decoded when needed; it counts for the base file of `positions_of` only.
    `attempt` is `<task attempt>,<block number>` of writers that repeated tasks. All None where the block does not say.
    """

    instant: str | None = None
    target_instant: str | None = None
    schema_json: str | None = None
    command: str | None = None
    replaces: tuple[str, ...] = ()
    positions: str | None = None
    positions_of: str | None = None
    attempt: str | None = None
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class LogBlock:
    """One block of a log file. `path` is relative to the table's base path, offsets and sizes are bytes.

    `offset` and `size` are those of the whole block with its magic and trailing length, `content_offset` (from the
    file's begin) and `content_size` those of what is between header and footer.
    """

    path: str
    type: BlockType
    header: BlockHeader
    offset: int
    size: int
    content_offset: int
    content_size: int
