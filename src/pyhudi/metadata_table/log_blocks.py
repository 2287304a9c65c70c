"""Which blocks of a slice's logs count, and in which order.

Rules: `BaseHoodieLogRecordReader`; format notes (metadata table) 2.6 and 7. A block counts when its instant does. A
rollback block takes back what stands before it, a log compaction's block stands where the newest of those stood that it
replaces.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.errors import UnsupportedError
from pyhudi.spec.log_block import BlockType, LogBlock
from pyhudi.spec.visibility import Visibility

_SERVED = (BlockType.HFILE, BlockType.DELETE)


def counting_blocks(blocks: Iterable[LogBlock], visibility: Visibility) -> list[LogBlock]:
    """Return the blocks to merge, oldest first; `blocks` are those of all log files of a slice in the logs' order.

    Raises:
        UnsupportedError: a block's records are in a format that metadata tables do not have.
    """
    counting: list[LogBlock] = []
    for block in blocks:
        header = block.header
        if block.type is BlockType.CORRUPT:
            continue
        if block.type is BlockType.COMMAND:
            counting = [older for older in counting if older.header.instant != header.target_instant]
        elif header.instant is not None and visibility.shows(header.instant):
            if block.type not in _SERVED:
                raise UnsupportedError(f"{block.path} holds a {block.type.name} block; metadata tables have HFILE and DELETE blocks")
            counting = _replacing(counting, block)
    return counting


def _replacing(counting: list[LogBlock], block: LogBlock) -> list[LogBlock]:
    replaced = set(block.header.replaces)
    places = [place for place, older in enumerate(counting) if older.header.instant in replaced]
    if not places:
        return [*counting, block]
    kept = [older for older in counting[: places[-1]] if older.header.instant not in replaced]
    return [*kept, block, *counting[places[-1] + 1 :]]
