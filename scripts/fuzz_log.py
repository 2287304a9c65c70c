"""Reads mutated log files and reports what broke: `python -m scripts.fuzz_log [INPUTS] [SEED]`.

Inputs that break a rule are written to `fuzz-<number>.log` in the current folder.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from tests.unit.codec.log_fuzz import fuzz

_MOST_SHOWN = 20


def main(inputs: int = 1_000_000, seed: int = 0) -> int:
    begin = time.perf_counter()
    outcome = fuzz(inputs, seed)
    seconds = time.perf_counter() - begin
    count = outcome.kinds.pop("inputs")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{count:,} inputs in {seconds:.0f} s: {count / seconds:,.0f} a second, slowest {outcome.slowest_s:.3f} s, at most {memory} MiB")
    for kind, number in outcome.kinds.most_common():
        print(f"{number:>12,}  {kind}")
    print(f"{len(outcome.broken):>12,}  broke a rule")
    for number, (problem, data) in enumerate(outcome.broken[:_MOST_SHOWN]):
        Path(f"fuzz-{number}.log").write_bytes(data)
        print(f"fuzz-{number}.log ({len(data)} bytes): {problem}")
    return bool(outcome.broken)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
