"""Avro blocks alone: rows a second, decoded and encoded, against fastavro's own rate.

    python -m bench.kernels.log_blocks [--rows N]

Decoding at less than half of fastavro's rate ends with status 1.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import time
from collections.abc import Callable

import fastavro
import pyarrow as pa

from pyhudi.codec.avro.avro_record import parse_avro_schema
from pyhudi.codec.log.log_content import avro_records, encode_avro_content
from pyhudi.kernels.arrays.avro_rows import decode, encode
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.schema.meta_columns import META_COLUMNS

REPETITIONS = 5
GOAL = 0.5


def main() -> int:
    """Measure, print rows a second."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.log_blocks")
    parser.add_argument("--rows", type=int, default=33_000)
    table = rows(parser.parse_args().rows)
    avro = with_meta_fields(arrow_to_avro(table.schema, "l10"))
    content = encode_avro_content(encode(table, avro))
    decoded = rate(table.num_rows, lambda: list(decode(content, avro, table.column_names)))
    theirs = rate(table.num_rows, lambda: one_by_one(content, avro))
    print(f"decode all columns  {decoded:12,.0f} rows/s")
    print(f"decode two columns  {rate(table.num_rows, lambda: list(decode(content, avro, table.column_names[5:7]))):12,.0f} rows/s")
    print(f"fastavro            {theirs:12,.0f} rows/s")
    print(f"encode              {rate(table.num_rows, lambda: encode(table, avro)):12,.0f} rows/s")
    return 0 if decoded >= GOAL * theirs else 1


def rows(count: int) -> pa.Table:
    """Return rows of eight data columns behind the meta columns."""
    numbers = range(count)
    columns = {name: [f"{name}{number:015d}" for number in numbers] for name in META_COLUMNS}
    data = {
        "key": pa.array([f"key{number:020d}" for number in numbers]),
        "ts": pa.array([number * 7919 for number in numbers], pa.int64()),
        "amount": pa.array([number / 7 for number in numbers]),
        "count": pa.array([number % 1000 for number in numbers], pa.int32()),
        "note": pa.array([f"some text {number % 97}" if number % 10 else None for number in numbers]),
        "at": pa.array([number * 10**6 for number in numbers], pa.int64()).cast(pa.timestamp("us", "UTC")),
        "city": pa.array([f"city{number % 7}" for number in numbers]),
        "flag": pa.array([number % 2 == 0 for number in numbers]),
    }
    return pa.table(columns | data)


def one_by_one(content: bytes, avro: str) -> list[object]:
    """Decode the records as fastavro does."""
    schema = parse_avro_schema(avro)
    return [fastavro.schemaless_reader(io.BytesIO(record), schema, None) for record in avro_records(content)]


def rate(count: int, work: Callable[[], object]) -> float:
    """Return rows a second of processor time, the median of some runs."""
    times = []
    for _ in range(REPETITIONS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return count / statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
