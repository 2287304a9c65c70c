"""What the meta columns of narrow rows cost whoever writes them: pyarrow alone, with the settings of our files, on the rows of `N4`.

    python -m bench.kernels.narrow_floor [--rows N] [--rounds N]

Files have a million rows each and are written in memory, two at a time. Printed are the best processor and elapsed seconds of: writing
the four columns of data; computing keys and sequence numbers and writing all nine columns, which a load cannot do without; and reading all
nine, leaving out one row in a thousand and writing them, which a delete cannot do without while each page holds a row of it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.narrow_data import deleted_kind, narrow_rows
from pyhudi.kernels.base_file.meta_column_writer import constant, numbered
from pyhudi.schema.meta_columns import COMMIT_SEQNO, META_COLUMNS, RECORD_KEY

_FILE_ROWS: Final = 1_000_000
_INSTANT: Final = "20261124173133041"
_FILE_NAME: Final = f"fe788dba-95c0-49f0-8c22-e0db7c4371fb-0_0-0-0_{_INSTANT}.parquet"
_PLAIN: Final = ("id", COMMIT_SEQNO, RECORD_KEY)


def with_meta_columns(rows: pa.Table) -> pa.Table:
    """Return rows with the five meta columns of a load."""
    count = rows.num_rows
    keys = rows.column("id").cast(pa.string())
    meta = [constant(_INSTANT, count), numbered(f"{_INSTANT}_0_", 0, count), keys, constant("", count), constant(_FILE_NAME, count)]
    return pa.table([*meta, *rows.columns], names=[*META_COLUMNS, *rows.schema.names])


def written(rows: pa.Table) -> pa.Buffer:
    """Return rows as a Parquet file, encoded as those of a table are."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        version="1.0",
        data_page_version="1.0",
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in rows.schema.names if name not in _PLAIN],
        write_page_index=True,
        write_page_checksum=True,
        store_schema=False,
        row_group_size=rows.num_rows,
    )
    return sink.getvalue()


def without_kind(file: pa.Buffer) -> pa.Buffer:
    """Return a file without the rows of one kind."""
    kind = int(deleted_kind(0).split()[-1])
    constants = [name for name in META_COLUMNS if name not in (COMMIT_SEQNO, RECORD_KEY)]
    rows = pq.read_table(file, use_threads=False, read_dictionary=constants)
    return written(rows.filter(pc.not_equal(rows.column("kind"), kind)))


def best(function: Callable[[pa.Table], object], items: Sequence[object], rounds: int) -> tuple[float, float]:
    """Return the best processor and elapsed seconds of a function over all items, two at a time."""
    times = []
    for _ in range(rounds):
        used, started = time.process_time(), time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(function, items))
        times.append((time.process_time() - used, time.perf_counter() - started))
    return min(used for used, _ in times), min(elapsed for _, elapsed in times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.narrow_floor", description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    parts = [narrow_rows(np.arange(start, start + _FILE_ROWS), seed=1) for start in range(0, given.rows, _FILE_ROWS)]
    files = [written(with_meta_columns(part)) for part in parts]
    steps = (
        ("write the data", written, parts),
        ("make the meta columns and write all", lambda part: written(with_meta_columns(part)), parts),
        ("read all, filter, write all", without_kind, files),
    )
    for name, function, items in steps:
        used, elapsed = best(function, items, given.rounds)
        print(f"{name}: {used:.2f} s of processor time, {elapsed:.2f} s elapsed")


if __name__ == "__main__":
    main()
