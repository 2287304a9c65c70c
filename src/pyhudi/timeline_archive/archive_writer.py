"""Writing the archived timeline of layout 2: instants into a file of their own, and many small files into larger ones.

Rules: `LSMTimelineWriter`; docs/format/timeline.md#history-of-layout-2. A file counts as soon as a manifest lists it whose number
`_version_` holds. The caller holds the table's lock. Whatever a cut leaves is a file that no current manifest lists: the next run writes it
again, or deletes it once enough manifests have gone by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from pyhudi.codec.actions.lsm_manifest import ManifestEntry, encode_manifest
from pyhudi.kernels.base_file.base_file import FOOTER_AVRO_SCHEMA, WriterSettings
from pyhudi.kernels.base_file.parquet_input import open_parquet
from pyhudi.kernels.base_file.parquet_output import open_writer
from pyhudi.timeline.archived_timeline_lsm import (
    COLUMNS,
    VERSION_FILE,
    ArchivedRow,
    HistoryFile,
    current_manifest,
    files_of_manifest,
    is_history_file,
    manifest_numbers,
    manifest_path,
)

if TYPE_CHECKING:
    from pyhudi.spec.table.table_config import TableConfig
    from pyhudi.storage.storage_protocol import Storage

_VERSION: Final = 1
_AVRO_SCHEMA: Final = (
    '{"type":"record","name":"HoodieLSMTimelineInstant","namespace":"org.apache.hudi.avro.model","fields":['
    + "".join(
        f'{{"name":"{name}","type":["null",{{"type":"string","avro.java.string":"String"}}],"default":null}},' for name in COLUMNS[:3]
    )
    + "".join(f'{{"name":"{name}","type":["null","bytes"],"default":null}},' for name in COLUMNS[3:])
    + '{"name":"version","type":"int","default":1}]}'
)
_SCHEMA: Final = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in COLUMNS[:3]),
        *(pa.field(name, pa.binary()) for name in COLUMNS[3:]),
        pa.field("version", pa.int32(), nullable=False),
    ],
    metadata={FOOTER_AVRO_SCHEMA: _AVRO_SCHEMA, "writer.model.name": "avro"},
)
#: Manifests that stay for readers that have begun, in addition to one for each level that was merged.
_RETAINED_MANIFESTS: Final = 3
_SETTINGS: Final = WriterSettings(dictionary=False)
_BATCH_ROWS: Final = 128


@dataclass(frozen=True, slots=True)
class MergeLimits:
    """When files of one level become one of the next: as soon as there are `files` of them, up to `max_bytes` together."""

    files: int = 10
    max_bytes: int = 1 << 30


def add_to_history(storage: Storage, config: TableConfig, rows: Sequence[ArchivedRow]) -> None:
    """Put instants, sorted by requested time, into the archive; from the last step on readers find them there.

    Raises:
        StorageError: the storage failed; the archive is as it was.
    """
    number, files = current_manifest(storage, config)
    name = f"{rows[0].requested}_{rows[-1].requested}_0.parquet"
    columns = [[getattr(row, name) for row in rows] for name in ArchivedRow.__slots__]
    table = pa.table([*columns, [_VERSION] * len(rows)], schema=_SCHEMA)
    size = _write(storage, f"{config.history_path}/{name}", table.to_batches)
    _publish(storage, config, number + 1, (*_entries(files), ManifestEntry(name, size)))


def merge_history(storage: Storage, config: TableConfig, limits: MergeLimits) -> None:
    """Merge files of the archive where there are enough of one level, and delete what no manifest lists that a reader may hold.

    Raises:
        StorageError: the storage failed; the archive says what it said.
    """
    level = 0
    while _merge_level(storage, config, level, limits):
        level += 1
    _forget(storage, config, _RETAINED_MANIFESTS + level)


def _merge_level(storage: Storage, config: TableConfig, level: int, limits: MergeLimits) -> bool:
    number, files = current_manifest(storage, config)
    of_level = sorted((file for file in files if file.level == level), key=lambda file: file.name)
    merged = _candidates(of_level, limits) if len(of_level) >= limits.files else ()
    if len(merged) < 2:
        return False
    name = f"{min(file.first for file in merged)}_{max(file.last for file in merged)}_{level + 1}.parquet"
    size = _write(storage, f"{config.history_path}/{name}", lambda: _batches(storage, merged))
    retained = _entries([file for file in files if file not in merged])
    _publish(storage, config, number + 1, (*retained, ManifestEntry(name, size)))
    return True


def _candidates(files: Sequence[HistoryFile], limits: MergeLimits) -> Sequence[HistoryFile]:
    """Return files that follow each other, as many as the limits allow; a large one that begins them is passed over."""
    chosen: list[HistoryFile] = []
    for file in files:
        chosen.append(file)
        if len(chosen) >= limits.files:
            break
        if sum(one.size for one in chosen) > limits.max_bytes:
            if len(chosen) > 1:
                break
            chosen.clear()
    return chosen


def _batches(storage: Storage, files: Sequence[HistoryFile]) -> Iterator[pa.RecordBatch]:
    for file in files:
        with open_parquet(storage, file.path) as parquet:
            for batch in parquet.iter_batches(_BATCH_ROWS, columns=_SCHEMA.names):
                yield pa.record_batch(batch.columns, schema=_SCHEMA)


def _write(storage: Storage, path: str, batches: Callable[[], Iterator[pa.RecordBatch] | Sequence[pa.RecordBatch]]) -> int:
    """Write a file in place of one that a cut left, and return its size in bytes."""
    storage.delete(path)
    with (
        storage.open_output(path) as sink,
        open_writer(sink, _SCHEMA, _SETTINGS, _SCHEMA.empty_table(), indexed=True) as writer,
    ):
        for batch in batches():
            writer.write_batch(batch)
    status = storage.stat(path)
    assert status is not None, "it was written"
    return status.size


def _publish(storage: Storage, config: TableConfig, number: int, entries: Sequence[ManifestEntry]) -> None:
    path = manifest_path(config, number)
    storage.delete(path)  # left by a run that was cut before the next line but one
    storage.create(path, encode_manifest(entries))
    storage.replace(f"{config.history_path}/{VERSION_FILE}", str(number).encode())


def _entries(files: Sequence[HistoryFile]) -> tuple[ManifestEntry, ...]:
    return tuple(ManifestEntry(file.name, file.size) for file in files)


def _forget(storage: Storage, config: TableConfig, retained: int) -> None:
    """Delete all but the newest manifests, then the files that none of these lists."""
    listing = storage.list(config.history_path)
    numbers = sorted(manifest_numbers(listing), reverse=True)
    if len(numbers) <= retained:
        return
    remaining = {file.name for number in numbers[:retained] for file in files_of_manifest(storage, config, number, listing)}
    for number in numbers[retained:]:
        storage.delete(manifest_path(config, number))
    for status in listing:
        if is_history_file(status.name) and status.name not in remaining:
            storage.delete(status.path)
