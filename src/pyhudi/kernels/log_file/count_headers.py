"""How many rows a file slice has, from the headers of its log blocks alone, where these prove it.

A block whose records all have places in the base file adds no row. By commit time the last block that refers to a place
decides whether its row is there. When ordering values are compared, rows that replace rows leave the count as it is, but
what a delete does is not in its header.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.log_file.base_positions import has_positions_in, last_position, positions_of
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.schema.meta_columns import IS_DELETED, OPERATION
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.log_block import BlockType, LogBlock


def count_by_headers(context: RecordContext, base: BaseFile, base_rows: int, blocks: Sequence[LogBlock]) -> int | None:
    """Return the number of rows of a slice, None when the headers do not tell.

    Args:
        context: what the rows of the table look like.
        base: the slice's base file.
        base_rows: how many rows it has.
        blocks: the blocks that count, in the order in which they apply.

    Raises:
        CorruptTableError: a position is behind the end of the base file.
    """
    if context.merger is not None or not all(_is_provable(context, base, block) for block in blocks):
        return None
    for block in blocks:
        if (last := last_position(block)) >= base_rows:
            raise CorruptTableError(
                f"Log file '{block.path}', block at byte {block.offset}, speaks of row {last} of base file '{base.path}', "
                f"which has {base_rows} rows."
            )
    if not any(block.type is BlockType.DELETE for block in blocks):
        return base_rows
    counts = np.ones(base_rows, bool)
    for block in blocks:
        counts[positions_of(block)] = block.type is not BlockType.DELETE
    return int(counts.sum())


def _is_provable(context: RecordContext, base: BaseFile, block: LogBlock) -> bool:
    header = block.header
    if not has_positions_in(block, base.name.instant):
        return False
    if block.type is BlockType.DELETE:
        return not context.compared_fields
    if header.schema_json is None:
        return False
    return _columns(header.schema_json).isdisjoint((IS_DELETED, OPERATION, context.delete_field))


@lru_cache(maxsize=64)
def _columns(schema_json: str) -> frozenset[str]:
    """Return the columns of a schema; the blocks of a table have the same one as a rule."""
    return frozenset(avro_to_arrow(schema_json).names)
