"""Leaves out partitions whose path says that no row of theirs can match a filter.

Rules: `PartitionPruners`. A partition field's value is taken from the path only where the key generator keeps it unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.types as pt

from pyhudi.errors import KeyFieldError
from pyhudi.kernels.base_file.iter_rows import guarantee
from pyhudi.schema.meta_columns import with_meta_columns
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig

_KEEPS_VALUES: Final = frozenset({KeyGeneratorType.SIMPLE, KeyGeneratorType.COMPLEX})


def prune_partitions(paths: Sequence[str], condition: pc.Expression, schema: pa.Schema, config: TableConfig) -> tuple[str, ...]:
    """Return the partition paths that may hold matching rows.

    Args:
        paths: All partition paths.
        condition: A filter over columns of the table.
        schema: The data columns of the table.
        config: The table's configuration.
    """
    if not path_columns(schema, config):
        return tuple(paths)
    # Arrow simplifies a filter by what is known of a fragment; one that is never opened stands for a partition.
    nowhere = pafs.LocalFileSystem()
    parquet = ds.ParquetFileFormat()
    fragments = [
        parquet.make_fragment(str(number), nowhere, partition_expression=guarantee(path_values(path, schema, config)))
        for number, path in enumerate(paths)
    ]
    dataset = ds.FileSystemDataset(fragments, with_meta_columns(schema), parquet, nowhere)
    try:
        return tuple(paths[int(fragment.path)] for fragment in dataset.get_fragments(filter=condition))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return tuple(paths)  # it fails for the value of a partition, which may have no rows


def path_columns(schema: pa.Schema, config: TableConfig) -> frozenset[str]:
    """Return the partition columns whose values paths tell, where they can be taken apart."""
    if config.key_generator.family not in _KEEPS_VALUES:
        return frozenset()
    return frozenset(name for name in config.partition_fields if name in schema.names and _is_recoverable(schema.field(name).type, config))


def path_values(path: str, schema: pa.Schema, config: TableConfig) -> dict[str, pa.Scalar]:
    """Return the values that the rows below a path have in partition columns, as far as the path tells.

    A row that was updated in a partition which its own values do not name (`hoodie.*.index.update.partition.path=false`) has those of the
    path, as in Apache Hudi; what its file says of them does not count.
    """
    recorded = path_columns(schema, config)
    if not recorded:
        return {}
    try:
        strings = config.partition_values(path)
    except KeyFieldError:  # a value holds a slash: which segment belongs to which field cannot be known
        return {}
    matches = (
        (name, _value(text, schema.field(name).type))
        for name, text in zip(config.partition_fields, strings, strict=True)
        if name in recorded
    )
    return {name: value for name, value in matches if value is not None}


def left_out_values(path: str, schema: pa.Schema, config: TableConfig) -> dict[str, pa.Scalar]:
    """Return the values of partition columns that files leave out: they are in the path alone.

    Raises:
        KeyFieldError: the path cannot be taken apart.
    """
    named = zip(config.partition_fields, config.partition_values(path), strict=True)
    return {name: pa.scalar(text, pa.string()).cast(schema.field(name).type) for name, text in named if name in schema.names}


def _is_recoverable(kind: pa.DataType, config: TableConfig) -> bool:
    if config.slash_dates:
        return bool(pt.is_date(kind))  # "a-b" and "a/b" have one path
    return bool(pt.is_string(kind) or pt.is_integer(kind) or pt.is_boolean(kind) or pt.is_date(kind))


def _value(text: str | None, kind: pa.DataType) -> pa.Scalar | None:
    if text is None:  # null, or for strings also the empty one
        return None if pt.is_string(kind) else pa.scalar(None, kind)
    try:
        return pa.scalar(text).cast(kind)
    except pa.ArrowInvalid:
        return None
