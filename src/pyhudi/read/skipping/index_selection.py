"""Expression indexes that refer to what a filter tests, and bloom filters asked for values.

Rules: `ExpressionIndexSupport`, `BloomFiltersIndexSupport`. An index helps a test of the same function of the same column with the
same arguments. Where the function depends on a time zone, the index must say in which one it was made: Apache Hudi's does not,
so that it rules nothing out here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import pyarrow.types as pt

from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import ZONE_OPTION, IndexDefinition
from pyhudi.metadata_table.format.index_expressions import IDENTITY
from pyhudi.metadata_table.format.record import BloomFilterRecord
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.read.filter.condition import Condition, FunctionCall, Operand, operands
from pyhudi.spec.files.file_group import FileSlice

#: Entries of an index's options that are arguments of its function.
_ARGUMENTS: Final = frozenset({"format", "days", "pos", "len", "pattern", "replacement", "idx", "trimString"})
_DEFAULTS: Final = {"from_unixtime": {"format": "yyyy-MM-dd HH:mm:ss"}}
#: A list of more values than this is looked for in the files.
MOST_VALUES: Final = 64


def expression_indexes(table: MetadataTable, condition: Condition) -> Iterator[tuple[IndexDefinition, Operand]]:
    """Yield the expression indexes that say something of an operand of the filter, with the operand.

    Raises:
        CorruptTableError: the definitions are damaged.
    """
    tested = dict.fromkeys(operands(condition))
    for name in table.partitions:
        definition = table.definitions.get(name)
        if definition is not None and name.startswith(partitions.EXPRESSION_PREFIX) and len(definition.source_fields) == 1:
            yield from ((definition, operand) for operand in tested if _speaks_of(definition, operand))


def _speaks_of(definition: IndexDefinition, operand: Operand) -> bool:
    function = definition.function.lower() or IDENTITY
    if not isinstance(operand, FunctionCall):
        return function == IDENTITY and (operand.name,) == definition.source_fields
    arguments = _DEFAULTS.get(function, {}) | {name: value for name, value in definition.options.items() if name in _ARGUMENTS}
    if function != operand.function or (operand.column.name,) != definition.source_fields or arguments != dict(operand.options):
        return False
    return not _depends_on_zone(operand) or definition.options.get(ZONE_OPTION) == operand.zone


def _depends_on_zone(call: FunctionCall) -> bool:
    kind = call.column.type
    return call.zone is not None and not (pt.is_date(kind) or (pt.is_timestamp(kind) and kind.tz is None))


def without_values(table: MetadataTable, index: str, slices: Sequence[FileSlice], strings: Collection[str]) -> list[FileSlice]:
    """Return the file slices that hold none of these strings, by an index of bloom filters; those with log files are not considered.

    Raises:
        CorruptTableError: the index is damaged.
    """
    candidates = {
        keys.bloom_filter_key(file_slice.group.partition_path, str(file_slice.base.name)): file_slice
        for file_slice in slices
        if file_slice.base is not None and not file_slice.logs
    }
    if "" in strings or not candidates:
        return []  # the empty text is in no filter
    result: list[FileSlice] = []
    for key, record in table.partition(index).get_many(candidates):
        if not isinstance(record, BloomFilterRecord):
            raise CorruptTableError(f"the index {index} holds a {type(record).__name__} instead of a bloom filter")
        if not record.is_deleted and not _may_hold(record, strings):
            result.append(candidates[key])
    return result


def _may_hold(record: BloomFilterRecord, strings: Collection[str]) -> bool:
    if record.kind not in BloomType.__members__:
        return True
    bloom = BloomFilter.decode(record.text.decode(errors="replace"), BloomType(record.kind))
    return any(bloom.might_contain(text) for text in strings)
