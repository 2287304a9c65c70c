"""Which blocks of a file slice's logs count, in the order in which they apply.

Rules: Hudi technical specification, "Log file format"; `BaseHoodieLogRecordReader`; docs/format/log-files.md#which-blocks-count. Before
version 8 each block counts when its instant does; from 8 on a log file belongs to the instant of its name, and the file system view has
left out the files of others. Files that an upgrade left are named by their slice: there, too, each block counts when its instant does. A
rollback block rolls back what precedes it, also for a reader of a time before the rollback: what it rolls back was never committed. It
also explains the damaged blocks before it: a writer was cut.

Blocks of repeated task attempts are all kept. The rows of a later attempt are those of the earlier one again, so that merging both
changes nothing, whereas telling attempts apart by counting their blocks drops rows that no other block has.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import lru_cache

from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.spec.visibility import Visibility

_log = logging.getLogger(__name__)

#: From this timeline layout on (table version 8) a log file belongs to one instant.
LOGS_NAMED_BY_INSTANT = 2


def choose_blocks(blocks: Iterable[LogBlock], visibility: Visibility, layout: int) -> list[LogBlock]:
    """Return the blocks with rows and deletes that count, in the order in which they apply.

    Args:
        blocks: all blocks of the slice's log files, in the order of files and blocks.
        visibility: what the reader takes for committed.
        layout: the timeline layout of the table.
    """
    counting: list[LogBlock] = []
    damaged: list[LogBlock] = []
    for block in blocks:
        if block.type is BlockType.CORRUPT:
            damaged.append(block)
        elif block.type is BlockType.COMMAND:
            damaged.clear()
            counting = [before for before in counting if before.header.instant != block.header.target_instant]
        elif (block.type.holds_rows or block.type is BlockType.DELETE) and _shows(block, visibility, layout):
            counting.append(block)
    for block in damaged:
        _log.warning(
            "log file %s is damaged at byte %d and no rollback tells why; %d bytes are passed over", block.path, block.offset, block.size
        )
    if any(block.header.replaces for block in counting):
        return _with_compacted(counting)
    return counting


def _shows(block: LogBlock, visibility: Visibility, layout: int) -> bool:
    instant = block.header.instant
    return instant is not None and (
        (layout >= LOGS_NAMED_BY_INSTANT and instant == _instant_of_name(block.path)) or visibility.is_visible(instant)
    )


@lru_cache(maxsize=1 << 10)
def _instant_of_name(path: str) -> str | None:
    name = parse_log_file_name(path.rpartition("/")[2])
    return None if name is None else name.instant


def _with_compacted(blocks: list[LogBlock]) -> list[LogBlock]:
    """Put the blocks of log compactions in the place of the newest blocks that they replace, and leave the replaced ones out.

    A log compaction of log compactions stands for all of theirs. One whose blocks have all gone from the slice counts for
    nothing: what it held is in the base file.
    """
    by_instant: dict[str, list[LogBlock]] = {}
    for block in blocks:
        by_instant.setdefault(block.header.instant or "", []).append(block)
    replaced_by: dict[str, str] = {}
    emitted: set[str] = set()
    newest_first: list[list[LogBlock]] = []
    for instant, file_blocks in reversed(by_instant.items()):
        if replaces := file_blocks[0].header.replaces:
            replaced_by |= dict.fromkeys(replaces, replaced_by.get(instant, instant))
        elif instant not in replaced_by:
            newest_first.append(file_blocks)
        elif (compacted := replaced_by[instant]) not in emitted:
            emitted.add(compacted)
            newest_first.append(by_instant[compacted])
    return [block for file_blocks in reversed(newest_first) for block in file_blocks]
