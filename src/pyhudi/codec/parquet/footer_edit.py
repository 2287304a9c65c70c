"""Takes statistics out of the metadata of a Parquet file that is about to be finished.

Rules: `parquet.thrift` of apache/parquet-format: `ColumnMetaData.statistics`, `ColumnChunk.column_index_offset`; both are optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyhudi.codec.parquet.compact_protocol import STRUCT, read_struct, write_struct
from pyhudi.codec.parquet.page_files import MAGIC, TAIL_BYTES, flat_columns, footer_length, items_of, struct_of

# The numbers of fields in `parquet.thrift`.
_ROW_GROUPS, _COLUMNS, _METADATA, _STATISTICS = 4, 1, 3, 12
_COLUMN_INDEX: Final = (6, 7)


def without_bounds(end: bytes, columns: Mapping[int, set[str]]) -> bytes:
    """Return the end of a Parquet file whose footer has neither statistics nor a column index for some columns of some row groups.

    Args:
        end: the last bytes of the file, the whole footer among them.
        columns: names of top-level columns that are no groups, by the number of the row group.

    Raises:
        CorruptTableError: the bytes do not end with the footer of a Parquet file.
    """
    what = "the footer of a new file"
    length = footer_length(end, what)
    footer, _ = read_struct(end[-TAIL_BYTES - length : -TAIL_BYTES], what)
    numbers = {name: column.number for name, column in flat_columns(footer).items()}
    groups = items_of(footer, _ROW_GROUPS)
    for group, names in columns.items():
        chunks = items_of(struct_of(groups[group]), _COLUMNS)
        for name in names:
            chunk = struct_of(chunks[numbers[name]])
            for field in _COLUMN_INDEX:
                chunk.pop(field, None)
            metadata = {field: value for field, value in struct_of(chunk[_METADATA][1]).items() if field != _STATISTICS}
            chunk[_METADATA] = STRUCT, metadata
    data = write_struct(footer)
    return end[: -TAIL_BYTES - length] + data + len(data).to_bytes(4, "little") + MAGIC
