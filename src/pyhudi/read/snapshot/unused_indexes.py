"""Which indexes of the metadata table a read does not ask, because its options switch them off.

Rules: `HoodieMetadataConfig`, `SparkBaseIndexSupport.isIndexAvailable`. To Apache Hudi a switch that nobody gives is the default of writes;
here every index that is there is asked unless its switch is given as false.
"""

from __future__ import annotations

from typing import Final

from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.spec.options import Options

#: How the names of the indexes begin that an option switches off, by the option.
INDEX_SWITCHES: Final = {
    "hoodie.metadata.index.column.stats.enable": partitions.COLUMN_STATS,
    "hoodie.metadata.index.partition.stats.enable": partitions.PARTITION_STATS,
    "hoodie.metadata.index.bloom.filter.enable": partitions.BLOOM_FILTERS,
    "hoodie.metadata.global.record.level.index.enable": partitions.RECORD_INDEX,
    "hoodie.metadata.record.level.index.enable": partitions.RECORD_INDEX,
    "hoodie.metadata.index.secondary.enable": partitions.SECONDARY_PREFIX,
    "hoodie.metadata.index.expression.enable": partitions.EXPRESSION_PREFIX,
}


def unused_indexes(options: Options) -> frozenset[str]:
    """Return how the names of the indexes begin that a read does not ask.

    Example:
        >>> from pyhudi.spec.options import resolve
        >>> sorted(unused_indexes(resolve({"hoodie.metadata.index.column.stats.enable": "false"})))
        ['column_stats']
    """
    stated = [(prefix, options.flag(name)) for name, prefix in INDEX_SWITCHES.items() if options.get(name) is not None]
    # A table has one record index, of either kind: scripts switch one kind off and the other on.
    return frozenset(prefix for prefix, is_on in stated if not is_on and (prefix, True) not in stated)
