"""`python -m bench.run`: every workload, every contestant in rotation, medians and ratios as a table and as JSON.

A claim is a ratio measured in one run: in each repetition all contestants run the same step one after the other, so noise of the machine
hits all of them. Writes `bench/results/last.json`, where lanes that did not run keep their results, and, with `--docs`,
`docs/benchmarks.md`.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from bench.data import ROWS, write_inputs
from bench.lanes import OWN, PEERS, Lane, Step
from bench.process import WorkerProcess
from bench.report import Measurement, environment, from_json, to_json, to_markdown, today

ROOT = Path(__file__).resolve().parent.parent
BATCHES = 10


#: What follows this heading in the document was measured by `bench.kernels`, and stays.
APART = "## Measured apart\n"


def main() -> None:
    """Parse the arguments, run the lanes, write the report."""
    arguments = parse_arguments()
    inputs = Path(arguments.inputs)
    write_inputs(inputs, arguments.rows, BATCHES)
    lanes = [*OWN, *(() if arguments.no_peers else PEERS)]
    lanes = [lane for lane in lanes if lane.available() and (not arguments.lanes or lane.name in arguments.lanes)]
    with tempfile.TemporaryDirectory(prefix="pyhudi-bench-", ignore_cleanup_errors=True) as work:
        measured = [m for lane in lanes for m in run_lane(lane, inputs, Path(work))]
    last = ROOT / "bench" / "results" / "last.json"
    last.parent.mkdir(exist_ok=True)
    facts = environment(arguments.rows)
    ran = {lane.name for lane in lanes}
    measured += [m for m in from_json(last.read_text(), facts) if m.lane not in ran] if last.exists() else []
    last.write_text(to_json(measured, facts))
    page = to_markdown(measured, facts)
    if arguments.docs:
        document = ROOT / "docs" / "benchmarks.md"
        _, heading, apart = document.read_text().partition(APART)
        document.write_text(f"{page.rstrip()}\n\n{heading}{apart}" if heading else page)
    print(page)


def parse_arguments() -> argparse.Namespace:
    """Return the command line's settings."""
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the table L10 (default: 4,000,000)")
    parser.add_argument("--inputs", default=str(Path(tempfile.gettempdir()) / "pyhudi-bench-inputs"))
    parser.add_argument("--no-peers", action="store_true", help="floors and pyhudi only")
    parser.add_argument("--lanes", nargs="*", help="only these (local, narrow, spark, local-mor, spark-mor, hudi, hudi-mor, changes)")
    parser.add_argument("--docs", action="store_true", help="write docs/benchmarks.md")
    return parser.parse_args()


def run_lane(lane: Lane, inputs: Path, work: Path) -> list[Measurement]:
    """Run one lane's contestants in rotation; a contestant that fails is reported as failed, not left out."""
    folder = work / lane.name
    folder.mkdir()
    workers = [WorkerProcess(name, inputs, folder) for name in lane.contestants]
    result: dict[tuple[str, str], Measurement] = {}
    try:
        for step in lane.steps:
            for number in step.numbers:
                for worker in workers:
                    if step.method not in lane.skipped.get(worker.name, ()):
                        record(result, worker, lane, step, number)
    finally:
        for worker in workers:
            worker.close()
        shutil.rmtree(folder, ignore_errors=True)
    return list(result.values())


def record(result: dict[tuple[str, str], Measurement], worker: WorkerProcess, lane: Lane, step: Step, number: int) -> None:
    """Run one step and add its seconds or its error."""
    answer = worker.call(step.method, number)
    measurement = result.setdefault((worker.name, step.label), Measurement(lane.name, worker.name, step.label, today()))
    if "error" in answer:
        measurement.errors.append(str(answer["error"]))
        print(f"{worker.name:16} {step.label:11} failed: {str(answer['error']).strip().splitlines()[-1]}", flush=True)
        return
    measurement.seconds.append(float(str(answer["seconds"])))
    print(f"{worker.name:16} {step.label:11} {measurement.seconds[-1]:8.3f} s", flush=True)


if __name__ == "__main__":
    main()
