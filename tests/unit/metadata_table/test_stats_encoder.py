"""Records of statistics that are encoded without fastavro have the bytes that it gives them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pyhudi.codec.varint import prefix_length
from pyhudi.metadata_table.format.record import ColumnStats, FileEntry, FileList, RecordType, ValueType
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from tests.unit.metadata_table.stats_samples import BOUNDS, random_stats


@pytest.mark.parametrize("version", [6, 8, 9])
def test_every_bound_and_count_is_encoded_as_fastavro_does(version: int) -> None:
    encoder, chance = RecordEncoder(version), random.Random(version)
    decoder = RecordDecoder(encoder.file_schema, "a file")
    types = [RecordType.COLUMN_STATS, RecordType.PARTITION_STATS]
    columns = ["", "id", "the name of a file or of a column"]
    for value_type, values in BOUNDS.items():
        for bound in (None, *values):
            for index_version in (1, 2):
                names_kind = bound is not None or chance.random() < 0.5
                stats = random_stats(chance, types, columns, value_type, bound, index_version, names_kind=names_kind)
                assert encoder.encode(stats) == encoder._encode_record(stats), stats
                assert encoder.encode(replace(stats, is_deleted=True)) == encoder._encode_record(replace(stats, is_deleted=True)), stats
                decoder.decode(encoder.encode(stats))


def test_only_wrappers_that_few_records_have_are_left_to_fastavro() -> None:
    encoder = RecordEncoder(8)
    left = {
        kind
        for kind, values in BOUNDS.items()
        if encoder._stats.rest(
            ColumnStats(RecordType.COLUMN_STATS, "a", "b", kind, values[0], values[0], type_info="15,2", index_version=1)
        )
        is None
    }
    assert left == {ValueType.DATE, ValueType.DECIMAL}


@pytest.mark.parametrize("version", [6, 8, 9])
def test_tombstones_put_together_are_those_encoded(version: int) -> None:
    encoder = RecordEncoder(version)
    for column in ("", "id", "ø", "the name of a file or of a column"):
        head, tail = encoder.stats_tombstone(column)
        for name in ("", "a.parquet", "ø" * 80):
            record = ColumnStats(RecordType.COLUMN_STATS, name, column, is_deleted=True)
            assert head + prefix_length(name.encode()) + tail == encoder.encode(record) == encoder._encode_record(record)


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("kind", [RecordType.ALL_PARTITIONS, RecordType.FILES])
def test_lists_of_files_are_encoded_as_fastavro_does(version: int, kind: RecordType) -> None:
    encoder = RecordEncoder(version)
    sizes = (0, 1, 63, 64, 10**9, 1 << 40)
    every = {f"{'ü' * number}{size}": FileEntry(size, is_deleted=number % 2 > 0) for number in range(80) for size in sizes}
    for count in (0, 1, 63, 64, len(every)):
        some = FileList(kind, dict(list(every.items())[:count]))
        assert encoder.encode(some) == encoder._encode_record(some)
