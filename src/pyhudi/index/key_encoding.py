"""How the generator COMPLEX wrote the key of one field in a table before version 9: what stored keys prove.

Hudi 0.14.1 to 1.0.2 wrote the bare value, all others `field:value` (HUDI-7001), and a table does not say which. Writing the other way would
double its records. Apache Hudi refuses such tables unless `hoodie.write.complex.keygen.validation.enable=false`, and then takes
`field:value`; here rows of some base files are looked at, and tables that hold both are refused as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import pyarrow as pa

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.parquet_input import open_parquet
from pyhudi.kernels.keys.key_kernels import column_text, field_column
from pyhudi.keygen.key_generator_protocol import composite_key
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import BaseFile, FileSlice
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline_archive.full_timeline import load_full_timeline

#: Base files that are looked at, from all over the table: the releases that wrote bare values wrote some of them, or all.
_LOOKED_AT = 8


def with_key_encoding(storage: Storage, config: TableConfig) -> TableConfig:
    """Return a table's configuration with the line that says how its keys are written, when its files prove it and it does not say.

    A table without data gets what Apache Hudi would write. The line is not stored: what is proven is looked at by each write.

    Args:
        storage: The table's.
        config: What its hoodie.properties says.

    Raises:
        CorruptTableError: a base file is damaged.
    """
    if not config.key_encoding_is_open:
        return config
    view = open_view(storage, config, load_full_timeline(storage, config))
    slices = list(_slices(view))
    encodings = {
        _encoding(storage, base, config) for base in _spread([file_slice.base for file_slice in slices if file_slice.base is not None])
    }
    if not slices:
        encodings = {"FIELD_PREFIXED"}
    line = encodings.pop() if len(encodings) == 1 else None
    return TableConfig({**config.properties, keys.COMPLEX_KEY_ENCODING: line}) if line else config


def _slices(view: FileSystemView) -> Iterator[FileSlice]:
    return chain.from_iterable(view.latest_slices(path) for path in view.partition_paths())


def _spread(bases: Sequence[BaseFile]) -> Sequence[BaseFile]:
    """Return the first, the last and some between in the order of their instants."""
    ordered = sorted(bases, key=lambda base: base.name.instant)
    steps = min(_LOOKED_AT, len(ordered))
    return [ordered[step * (len(ordered) - 1) // max(1, steps - 1)] for step in range(steps)]


def _encoding(storage: Storage, base: BaseFile, config: TableConfig) -> str | None:
    """Return how the first key of a base file is written; None when it is neither way, or the file has no rows."""
    field = config.record_key_fields[0]
    with open_parquet(storage, base.path) as parquet:
        batch = next(parquet.iter_batches(1, columns=[RECORD_KEY, field]), None)
    if batch is None or batch.num_rows == 0:
        return None
    rows = pa.Table.from_batches([batch])
    key = rows[RECORD_KEY][0].as_py()
    value = column_text(field_column(rows, field), field, timestamps_as_text=config.timestamps_as_text)[0].as_py()
    if key == value:
        return "VALUE_ONLY"
    return "FIELD_PREFIXED" if key == composite_key([field], [value], row=0) else None
