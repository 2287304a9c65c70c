"""The record that an expression index has of a base file: bounds of its function's values, or a bloom filter of them.

Rules: `SparkMetadataWriterUtils.getExpressionIndexRecordsUsingColumnStats`, `.getExpressionIndexRecordsUsingBloomFilter`.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.keys.key_kernels import field_column
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import BoundType, type_info, value_type
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.index_expressions import Expression
from pyhudi.metadata_table.format.record import BloomFilterRecord, ColumnStats, MetadataRecord, RecordType
from pyhudi.spec.files.file_group import BaseFile

#: Options of an index of bloom filters, with their defaults.
_BLOOM_KIND, BLOOM_ENTRIES, BLOOM_FPP, _BLOOM_MAX_ENTRIES = "DYNAMIC_V0", 60_000, 1e-9, 100_000
#: Apache Hudi takes data for twice as large once it is unpacked.
_UNPACKED = 2


class ExpressionRecords:
    """Makes the records of one index, whose version says how bounds are stated."""

    def __init__(self, definition: IndexDefinition, version: int) -> None:
        self._field = definition.source_fields[0]
        self._expression = Expression.of(definition)
        self._is_bloom = definition.type == partitions.BLOOM_FILTERS
        self._options = definition.options
        self._version = version

    def of_file(self, file: BaseFile, rows: pa.Table) -> MetadataRecord | None:
        """Return the record of a file with these rows; None when the values are not known for certain, or there are none."""
        if not rows.num_rows:
            return None
        column = field_column(rows, self._field).combine_chunks()
        values = self._expression.of_column(column)
        if values is None or values.null_count > column.null_count:
            return None
        return self._filter(file, values) if self._is_bloom else self._bounds(file, values)

    def _bounds(self, file: BaseFile, values: pa.Array) -> ColumnStats | None:
        kind = value_type(values.type, self._version)
        if kind is None or (pt.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py()):
            return None
        bounds = pc.min_max(_comparable(values)).as_py()
        return ColumnStats(
            RecordType.COLUMN_STATS,
            str(file.name),
            self._field,
            kind,
            bounds["min"],
            bounds["max"],
            len(values) - values.null_count,
            values.null_count,
            file.size,
            file.size * _UNPACKED,
            type_info=BoundType(kind, type_info(values.type), self._version).stated_info,
            index_version=self._version,
        )

    def _filter(self, file: BaseFile, values: pa.Array) -> BloomFilterRecord | None:
        if not pt.is_string(values.type):
            return None
        kind = BloomType(self._options.get("filtertype", _BLOOM_KIND))
        bloom = KeyFilter(
            BloomFilter.empty(
                kind,
                entries=int(self._options.get("numentries", BLOOM_ENTRIES)),
                fpp=float(self._options.get("fpp", BLOOM_FPP)),
                max_entries=int(self._options.get("maxentries", _BLOOM_MAX_ENTRIES)),
            )
        )
        bloom.add(pa.chunked_array([pc.unique(values.drop_null())]))
        return BloomFilterRecord(kind, file.name.instant, bloom.encode().encode())


def _comparable(values: pa.Array) -> pa.Array:
    """Return the values as bounds have them: dates and times are whole numbers."""
    kind = values.type
    if pt.is_date32(kind) or pt.is_time32(kind):
        return values.cast(pa.int32())
    if pt.is_timestamp(kind) or pt.is_time64(kind):
        return values.cast(pa.int64())
    return values
