"""Bootstrap of a folder of Parquet files: metadata only beside copying, and reads of skeletons beside those of a plain table.

    python -m bench.kernels.bootstraps --work <scratch folder> [--rows N] [--files N] [--spark]

The plain table has the same rows in as many files, with the same compression. Steps take turns; the medians of seconds and of processor
time are printed with their ratios. `--spark` reads on a Spark session too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi import HudiTable

ROUNDS = 5
#: What is read on Spark: columns and a filter.
QUERIES = {
    "every column": (["*"], "true"),
    "data columns": (["id", "amount", "text0", "text1", "text2", "text3", "text4", "text5", "text6", "text7"], "true"),
    "two columns": (["id", "amount"], "true"),
    "sums": (["sum(amount)", "max(text0)"], "true"),
    "count": (["count(*)"], "true"),
    "a filter": (["id", "amount", "text0"], "amount > 990"),
    "record keys": (["_hoodie_record_key", "amount"], "true"),
    "a record key": (["_hoodie_record_key", "text0"], "_hoodie_record_key = '777'"),
}
COPY = {"hoodie.bootstrap.mode.selector": "FullRecordBootstrapModeSelector"}


def main() -> None:
    """Make the source and print what each step takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--spark", action="store_true")
    arguments = parser.parse_args()
    work = arguments.work / "bootstraps"
    shutil.rmtree(work, ignore_errors=True)
    source = write_source(work / "source", arguments.rows, arguments.files)
    paths = {"metadata only": work / "skeletons", "copied": work / "copied"}
    compare("bootstrap", {name: lambda path=path: bootstrap(path, source) for name, path in paths.items()}, 3)
    paths = {"skeletons": paths["metadata only"], "plain": write_plain(work / "plain", source)}
    tables = {name: HudiTable.open(path) for name, path in paths.items()}
    every: Mapping[str, Callable[[], object]] = {name: table.to_arrow for name, table in tables.items()}
    two = {name: lambda table=table: table.to_arrow(columns=["id", "amount"]) for name, table in tables.items()}
    some = {name: lambda table=table: table.to_arrow(columns=["amount"], filter="amount > 990") for name, table in tables.items()}
    keys = {name: lambda table=table: table.to_arrow(columns=["_hoodie_record_key", "amount"]) for name, table in tables.items()}
    for title, steps in (("every column", every), ("two columns", two), ("a filter", some), ("with record keys", keys)):
        compare(f"local, {title}", steps, ROUNDS)
    if arguments.spark:
        read_on_spark(paths)


def write_source(folder: Path, rows: int, files: int) -> Path:
    """Write a folder of Parquet files without partitions."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(7)
    size = rows // files
    for number in range(files):
        ids = np.arange(number * size, (number + 1) * size)
        columns = {f"text{one}": [f"{one}-{value}" for value in random.integers(0, 1_000_000, size)] for one in range(8)}
        amounts = random.integers(0, 100_000, size) / 100
        pq.write_table(pa.table({"id": ids, "amount": amounts, **columns}), folder / f"part-{number:03}.parquet", use_dictionary=False)
    return folder


def bootstrap(path: Path, source: Path) -> None:
    """Bootstrap a table in the mode that its name tells."""
    shutil.rmtree(path, ignore_errors=True)
    HudiTable.bootstrap(path, source, name="rides", keys=["id"], options=COPY if path.name == "copied" else None)


def write_plain(path: Path, source: Path) -> Path:
    """Write a table with a file for each file of the source."""
    files = sorted(source.iterdir())
    table = HudiTable.create(path, pq.read_schema(files[0]), name="rides", keys=["id"])
    for file in files:
        table.bulk_insert(pq.read_table(file), options={"hoodie.parquet.compression.codec": "snappy"})
    return path


def read_on_spark(paths: Mapping[str, Path]) -> None:
    """Read both tables on Spark, and once more after a tenth of the files was rewritten."""
    import pyhudi  # noqa: PLC0415 - as PySpark, it is needed here only
    from bench.contestants.spark_session import builder  # noqa: PLC0415

    spark = pyhudi.enable(builder("bootstraps")).getOrCreate()
    process = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001 - no public name

    def processor_time() -> float:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    for state in ("as it is", "after an upsert"):
        for title, query in QUERIES.items():
            frames = {name: spark.read.format("hudi").load(str(path)) for name, path in paths.items()}
            steps = {
                name: lambda frame=frame, query=query: (
                    frame.selectExpr(*query[0]).where(query[1]).write.format("noop").mode("overwrite").save()
                )
                for name, frame in frames.items()
            }
            compare(f"Spark, {state}, {title}", steps, ROUNDS, processor_time)
        for path in paths.values():
            rows = pq.read_table(next((path.parent / "source").iterdir())).slice(0, 10)
            HudiTable.open(path).upsert(rows)
    spark.stop()


def compare(
    title: str, steps: Mapping[str, Callable[[], object]], rounds: int, processor_time: Callable[[], float] = time.process_time
) -> None:
    """Run the steps in turn, and print the medians of their seconds and processor time with the ratio of the first to the second."""
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    processor: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            started, used = time.perf_counter(), processor_time()
            step()
            seconds[name].append(time.perf_counter() - started)
            processor[name].append(processor_time() - used)
    figures = []
    for unit, times in (("s", seconds), ("s of processor time", processor)):
        first, second = (statistics.median(times[name]) for name in steps)
        figures.append(f"{first:.3f} and {second:.3f} {unit} (ratio {first / second:.2f})")
    print(f"{title}, {' and '.join(steps)}: {'; '.join(figures)}", flush=True)


if __name__ == "__main__":
    main()
