"""Leaves out partitions whose path says that no row of theirs can match a filter.

Rules: `PartitionPruners`. A partition field's value is taken from the path only where the key generator keeps it unchanged.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.types as pt

from pyhudi.errors import KeyFieldError
from pyhudi.schema.meta_columns import with_meta_columns
from pyhudi.spec.key_generator import KeyGeneratorType
from pyhudi.spec.table_config import TableConfig

_KEEPS_VALUES: Final = frozenset({KeyGeneratorType.SIMPLE, KeyGeneratorType.COMPLEX})


def prune_partitions(paths: Sequence[str], condition: pc.Expression, schema: pa.Schema, config: TableConfig) -> tuple[str, ...]:
    """Return the partition paths that may hold matching rows.

    Args:
        paths: All partition paths.
        condition: A filter over columns of the table.
        schema: The data columns of the table.
        config: The table's configuration.
    """
    if not config.partition_fields or config.key_generator.family not in _KEEPS_VALUES:
        return tuple(paths)
    # Arrow simplifies a filter by what is known of a fragment; one that is never opened stands for a partition.
    nowhere = pafs.LocalFileSystem()
    parquet = ds.ParquetFileFormat()
    fragments = [
        parquet.make_fragment(str(number), nowhere, partition_expression=_guarantee(path, schema, config))
        for number, path in enumerate(paths)
    ]
    dataset = ds.FileSystemDataset(fragments, with_meta_columns(schema), parquet, nowhere)
    return tuple(paths[int(fragment.path)] for fragment in dataset.get_fragments(filter=condition))


def _guarantee(path: str, schema: pa.Schema, config: TableConfig) -> pc.Expression:
    """Return what holds for the partition columns of every row below a path."""
    fields = config.partition_fields
    try:
        texts = config.partition_values(path)
    except KeyFieldError:  # a value holds a slash: which segment belongs to which field cannot be told
        return pc.scalar(True)
    known = (_field_guarantee(schema, name, text, config) for name, text in zip(fields, texts, strict=True))
    return functools.reduce(operator.and_, (part for part in known if part is not None), pc.scalar(True))


def _field_guarantee(schema: pa.Schema, name: str, text: str | None, config: TableConfig) -> pc.Expression | None:
    if name not in schema.names:
        return None
    kind = schema.field(name).type
    if text is None:  # null, or for texts also the empty one
        return None if pt.is_string(kind) else pc.field(name).is_null()
    if config.slash_dates and not pt.is_date(kind):
        return None  # "a-b" and "a/b" have one path
    if not (pt.is_string(kind) or pt.is_integer(kind) or pt.is_boolean(kind) or pt.is_date(kind)):
        return None
    try:
        return pc.field(name) == pa.scalar(text).cast(kind)
    except pa.ArrowInvalid:
        return None
