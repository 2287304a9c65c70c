"""Rows of a base file with their record keys, which tables with virtual keys do not store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.row_filter import apply_filter
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.read_base import (
    NO_CONSTANTS,
    Constants,
    all_fields,
    iter_base_file,
    project_columns,
    with_constants,
    with_filter_columns,
)
from pyhudi.kernels.keys.key_kernels import with_computed_keys
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import BaseFile

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


def iter_keyed_base(
    storage: Storage,
    context: RecordContext,
    file: BaseFile,
    columns: Sequence[str],
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    without: Indices | None = None,
    constants: Constants = NO_CONSTANTS,
    verify: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a base file; a key that is asked for or filtered by is computed where files have none.

    Arguments and errors are those of `iter_base_file`.
    """
    key, wanted = context.virtual_key, project_columns(context.schema, columns)
    needed = wanted if filter is None else with_filter_columns(wanted, all_fields(context.schema), filter)
    if key is None or RECORD_KEY not in needed.names:
        yield from iter_base_file(storage, file, context.schema, columns, filter, without=without, constants=constants, verify=verify)
        return
    heads = (field.split(".")[0] for field in key.key_fields)
    for batch in iter_base_file(
        storage, file, context.schema, list(dict.fromkeys([*needed.names, *heads])), without=without, verify=verify
    ):
        rows = with_constants(with_computed_keys(pa.Table.from_batches([batch]), key), constants)
        yield from apply_filter(rows, filter).select(wanted.names).to_batches()
