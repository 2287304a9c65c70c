"""`python -m bench.run`: every workload, every contestant in rotation, medians and ratios as a table and as JSON.

A claim is a ratio measured in one run: in each repetition all contestants run the same step one after the other, so noise of the machine
hits all of them. Writes `bench/results/last.json` and, with `--docs`, `docs/benchmarks.md`.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from bench.data import ROWS, write_inputs
from bench.lanes import LOCAL, PEERS, SPARK, Lane
from bench.process import WorkerProcess
from bench.report import Measurement, environment, to_json, to_markdown

ROOT = Path(__file__).resolve().parent.parent
REPETITIONS = 3
SMALL_COMMITS = 20


def main() -> None:
    """Parse the arguments, run the lanes, write the report."""
    arguments = parse_arguments()
    inputs = Path(arguments.inputs)
    write_inputs(inputs, arguments.rows, arguments.repetitions + 1)
    lanes = [LOCAL, SPARK]
    if not arguments.no_peers:
        lanes += [lane for lane in PEERS if lane.available()]
    with tempfile.TemporaryDirectory(prefix="pyhudi-bench-", ignore_cleanup_errors=True) as work:
        measured = [m for lane in lanes for m in run_lane(lane, inputs, Path(work), arguments.repetitions)]
    results = ROOT / "bench" / "results"
    results.mkdir(exist_ok=True)
    facts = environment(arguments.rows)
    (results / "last.json").write_text(to_json(measured, facts))
    page = to_markdown(measured, facts)
    if arguments.docs:
        (ROOT / "docs" / "benchmarks.md").write_text(page)
    print(page)


def parse_arguments() -> argparse.Namespace:
    """Return the command line's settings."""
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the table L10 (default: 4,000,000)")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--inputs", default=str(Path(tempfile.gettempdir()) / "pyhudi-bench-inputs"))
    parser.add_argument("--no-peers", action="store_true", help="floors and pyhudi only")
    parser.add_argument("--docs", action="store_true", help="write docs/benchmarks.md")
    return parser.parse_args()


def run_lane(lane: Lane, inputs: Path, work: Path, repetitions: int) -> list[Measurement]:
    """Run one lane's contestants in rotation; a contestant that fails is reported as failed, not left out."""
    folder = work / lane.name
    folder.mkdir()
    workers = [WorkerProcess(name, inputs, folder) for name in lane.contestants]
    found: dict[tuple[str, str], Measurement] = {}
    try:
        for method, times in steps(repetitions):
            for number in range(times):
                for worker in workers:
                    if method not in lane.skipped.get(worker.name, ()):
                        record(found, worker, method, number)
    finally:
        for worker in workers:
            worker.close()
        shutil.rmtree(folder, ignore_errors=True)
    return list(found.values())


def steps(repetitions: int) -> list[tuple[str, int]]:
    """Return the methods in order, each with its number of repetitions."""
    return [
        ("load", repetitions),
        ("upsert", repetitions),
        ("count", repetitions),
        ("sums", repetitions),
        ("scan", repetitions),
        ("commit10", SMALL_COMMITS),
    ]


def record(found: dict[tuple[str, str], Measurement], worker: WorkerProcess, method: str, number: int) -> None:
    """Run one step and add its seconds or its error."""
    answer = worker.ask(method, number)
    measurement = found.setdefault((worker.name, method), Measurement(worker.name, method))
    if "error" in answer:
        measurement.errors.append(str(answer["error"]))
        print(f"{worker.name:16} {method:9} failed: {str(answer['error']).strip().splitlines()[-1]}", flush=True)
        return
    measurement.seconds.append(float(str(answer["seconds"])))
    print(f"{worker.name:16} {method:9} {measurement.seconds[-1]:8.3f} s", flush=True)


if __name__ == "__main__":
    main()
