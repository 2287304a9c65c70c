"""The benchmark table `L10` and its update batches, made from a seed so that every contestant gets the same bytes.

One row: key (25 characters, hash order), part (12 values), ts timestamp[us], a and b int64, x and y double, cat (5,000 values), hex (32
characters), flag. About 127 bytes a row in Arrow.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 4_000_000
BATCH_ROWS = 40_000
UPDATE_SHARE = 0.75


def keys_of(ids: np.ndarray) -> pa.Array:
    """Return the record keys of row numbers: 16 hexadecimal digits of a mixed number, then 9 decimal digits."""
    mixed = (ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(0xD1B54A32D192ED03)
    head = pa.array([f"{value:016x}" for value in mixed.tolist()], pa.string())
    tail = pc.utf8_lpad(pc.cast(pa.array(ids), pa.string()), 9, "0")
    return pc.binary_join_element_wise(head, tail, "")


def rows_of(ids: np.ndarray, seed: int) -> pa.Table:
    """Return the rows with these numbers; another seed gives other values under the same keys and partitions."""
    random = np.random.default_rng(seed)
    count = len(ids)
    hexes = np.frombuffer(random.bytes(count * 16), dtype=np.uint8).tobytes().hex()
    offsets = pa.array(np.arange(0, 32 * (count + 1), 32, dtype=np.int32))
    hex_column = pa.StringArray.from_buffers(count, offsets.buffers()[1], pa.py_buffer(hexes.encode()))
    parts = pa.DictionaryArray.from_arrays(pa.array((ids % 12).astype(np.int32)), [f"part-{n:02d}" for n in range(12)])
    categories = pa.array([f"category-{n:05d}" for n in range(5000)])
    return pa.table(
        {
            "key": keys_of(ids),
            "part": parts.cast(pa.string()),
            "ts": pa.array(1_700_000_000_000_000 + random.integers(0, 10**12, count), pa.timestamp("us", "UTC")),
            "a": random.integers(0, 2**31, count),
            "b": random.integers(-(2**62), 2**62, count),
            "x": random.random(count),
            "y": random.normal(size=count),
            "cat": categories.take(pa.array(random.integers(0, 5000, count))),
            "hex": hex_column,
            "flag": random.integers(0, 2, count).astype(bool),
        }
    )


def load_batch(rows: int = ROWS) -> pa.Table:
    """Return the table itself, in hash order of the keys."""
    table = rows_of(np.arange(rows), seed=1)
    return table.sort_by("key").combine_chunks()


def update_batch(number: int, rows: int = ROWS, batch_rows: int = BATCH_ROWS) -> pa.Table:
    """Return the `number`-th batch: three quarters updates spread evenly over the table, one quarter new rows."""
    updates = int(batch_rows * UPDATE_SHARE)
    inserts = batch_rows - updates
    random = np.random.default_rng(1000 + number)
    old = random.choice(rows, updates, replace=False)
    new = rows + number * inserts + np.arange(inserts)
    return rows_of(np.concatenate([old, new]), seed=2000 + number).combine_chunks()


def write_inputs(folder: Path, rows: int, batches: int) -> None:
    """Write `load.parquet` and `batch-N.parquet`, once; later runs find them."""
    done = folder / f"done-{rows}-{batches}"
    if done.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(load_batch(rows), folder / "load.parquet", compression="zstd", compression_level=1)
    for number in range(batches):
        pq.write_table(update_batch(number, rows, max(100, rows // 100)), folder / f"batch-{number}.parquet", compression="zstd")
    done.touch()
