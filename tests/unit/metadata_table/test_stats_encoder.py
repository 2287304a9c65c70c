"""Records of statistics that are encoded without fastavro have the bytes that it gives them."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from pyhudi.codec.varint import prefix_length
from pyhudi.metadata_table.format.record import ColumnStats, RecordType, ValueType
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder

_REALS = [0.0, -0.0, 1.5, -math.inf, math.inf]
_SMALL, _LARGE = [0, -1, 63, 64, -(2**31), 2**31 - 1], [0, -64, -65, 2**40, -(2**63), 2**63 - 1]
BOUNDS: dict[ValueType, list[Any]] = {
    ValueType.BOOLEAN: [False, True],
    ValueType.INT: _SMALL,
    ValueType.DATE: _SMALL,
    ValueType.TIME_MILLIS: _SMALL,
    ValueType.LONG: _LARGE,
    ValueType.TIME_MICROS: _LARGE,
    **{kind: _LARGE for kind in ValueType if "TIMESTAMP" in kind.name},
    ValueType.FLOAT: _REALS,
    ValueType.DOUBLE: [*_REALS, 0.1],
    ValueType.STRING: ["", "oslo", "ø" * 100, "\x00"],
    ValueType.UUID: ["c0000120-0000-0000-0000-000000000000"],
    ValueType.BYTES: [b"", b"\x00\xff" * 70],
    ValueType.FIXED: [b"\x01" * 16],
    ValueType.DECIMAL: [Decimal("0.00"), Decimal("-12.34"), Decimal("99999999999.99")],
}


@pytest.mark.parametrize("version", [6, 8, 9])
def test_every_bound_and_count_is_encoded_as_fastavro_does(version: int) -> None:
    encoder, chance = RecordEncoder(version), random.Random(version)
    decoder = RecordDecoder(encoder.file_schema, "a file")
    for value_type, values in BOUNDS.items():
        info = "15,2" if value_type is ValueType.DECIMAL else None
        for bound in (None, *values):
            for index_version in (1, 2):
                counts = chance.choices([None, 0, 1, 63, 64, 2**40], k=4)
                stats = ColumnStats(
                    chance.choice([RecordType.COLUMN_STATS, RecordType.PARTITION_STATS]),
                    chance.choice(["", "a.parquet", "ø" * 80]),
                    chance.choice(["", "id", "the name of a file or of a column"]),
                    chance.choice([None, value_type]) if bound is None else value_type,
                    bound,
                    chance.choice([None, bound]),
                    value_count=counts[0],
                    null_count=counts[1],
                    total_size=counts[2],
                    total_uncompressed_size=counts[3],
                    is_deleted=chance.random() < 0.2,
                    is_tight_bound=chance.random() < 0.5,
                    type_info=info,
                    index_version=index_version,
                )
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
