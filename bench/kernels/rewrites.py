"""The rewrite of one base file of a million rows, of whose row groups few change (W3): copied as bytes, against encoding all rows again.

    python -m bench.kernels.rewrites --inputs <folder of the input files> [--rows N]

The floor reads the file with pyarrow and writes it again. Whole commits of ten rows of one row group come last: read by their keys and
upserted, as a MERGE does it, with and without what the process knows of the keys. All take turns; processor time, medians of five.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.data import ROWS, write_inputs
from pyhudi import HudiTable
from pyhudi.kernels.base_file import stored_groups
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.keys import key_answers, key_probe
from pyhudi.kernels.merge import touched_groups
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask, run_write_task
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.storage.local_storage import LocalStorage

ROUNDS = 5
SETTINGS = replace(WriterSettings(bloom_fits=True), row_group_bytes=16 << 20, max_file_bytes=1 << 40)


class Rewrites:
    """A base file in a folder, which is rewritten again and again."""

    def __init__(self, folder: Path, rows: pa.Table) -> None:
        self.folder, self.storage, self.rows, self.number = folder, LocalStorage(str(folder)), rows, 0
        avro = with_meta_fields(arrow_to_avro(rows.schema, "t"))
        self.context = RecordContext("t", rows.schema, avro)
        self.base = _base_of(self.write(rows, None))
        self.groups = pq.read_metadata(folder / self.base.path).num_row_groups

    def write(self, rows: pa.Table, base: BaseFile | None) -> TaskResult:
        """Write rows on top of a base file."""
        self.number += 1
        keyed = rows.append_column("_hoodie_record_key", rows.column("key"))
        task = WriteTask(f"2026010100000{self.number:04}", "", "f1-0", "0-1-2", base)
        return run_write_task(self.storage, self.context, SETTINGS, task, keyed)

    def change(self, groups: int, *, copying: bool) -> Callable[[], object]:
        """Change one row in each of some row groups, spread over the file."""
        indices = np.linspace(0, self.rows.num_rows - 1, groups, dtype=np.int64) if groups > 1 else np.array([self.rows.num_rows // 2])
        changed = self.rows.take(pa.array(indices))
        stored_groups.COPIED_FILE_BYTES = 0 if copying else 1 << 60  # type: ignore[misc]
        return lambda: self.write(changed, self.base)

    def floor(self) -> Callable[[], object]:
        """Read the file and write it again."""
        source, target = self.folder / self.base.path, self.folder / "floor.parquet"
        return lambda: pq.write_table(pq.read_table(source), target, compression="zstd", compression_level=1, row_group_size=1 << 17)


class Commits:
    """A table of one file of the same rows, ten of which are read and upserted in a commit."""

    def __init__(self, folder: Path, rows: pa.Table) -> None:
        self.folder, self.rows = folder, rows
        HudiTable.create(str(folder), rows.schema, name="t", keys=["key"]).bulk_insert(rows)

    def merge(self, *, knows: bool) -> Callable[[], object]:
        """Read ten rows in a row by their keys, and upsert them."""
        changed = self.rows.slice(self.rows.num_rows // 2, 10)
        condition = pc.field("key").isin(changed.column("key").combine_chunks())

        def run() -> None:
            _forget(keeps=knows)
            HudiTable.open(str(self.folder)).to_arrow(filter=condition)
            HudiTable.open(str(self.folder)).upsert(changed)

        return run


def _forget(*, keeps: bool) -> None:
    """Let no search be answered by one before, or let it again."""
    touched_groups.recall = key_answers.recall if keeps else lambda *_: None  # type: ignore[attr-defined]
    key_probe.recall = touched_groups.recall  # type: ignore[attr-defined]


def main() -> None:
    """Print processor time and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=ROWS)
    arguments = parser.parse_args()
    write_inputs(arguments.inputs, arguments.rows, 4)
    rows = pq.read_table(arguments.inputs / "load.parquet").slice(0, 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        table, commits = Rewrites(Path(folder), rows), Commits(Path(folder) / "commits", rows)
        spent: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            spent.setdefault("floor", []).append(_processor_seconds(table.floor()))
            for groups in (1, 3):
                for copying in (False, True):
                    name = f"{groups} of {table.groups} row groups, {'copied' if copying else 'all encoded'}"
                    spent.setdefault(name, []).append(_processor_seconds(table.change(groups, copying=copying)))
            stored_groups.COPIED_FILE_BYTES = 4 << 20  # type: ignore[misc]
            for knows in (False, True):
                name = f"commit, keys {'searched once' if knows else 'searched three times'}"
                spent.setdefault(name, []).append(_processor_seconds(commits.merge(knows=knows)))
    floor = statistics.median(spent["floor"])
    for name, seconds in spent.items():
        print(f"{name:40} {statistics.median(seconds):6.3f} s  {statistics.median(seconds) / floor:5.2f} x")


def _processor_seconds(step: Callable[[], object]) -> float:
    begin = time.process_time()
    step()
    return time.process_time() - begin


def _base_of(result: TaskResult) -> BaseFile:
    name = parse_base_file_name(result.file)
    assert name is not None
    return BaseFile("", name, result.stat.file_size_in_bytes)


if __name__ == "__main__":
    main()
