"""HFile alone: look 100,000 keys up in a file of a million entries like those of a record index.

    python -m bench.kernels.hfile --work <scratch folder> [--entries N] [--keys N]

A median above the goal ends with status 1. The file is made once and kept.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
import uuid
from pathlib import Path

from pyhudi.codec.hfile import HFileReader, HFileWriter
from pyhudi.metadata_table.format.record import RecordLocation
from pyhudi.metadata_table.format.record_encoder import RecordEncoder

GOAL_SECONDS = 0.6
FILE_GROUPS = 400


def main() -> int:
    """Measure look-ups of many keys, of one, and reading all."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.hfile")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    path = arguments.work / f"record-index-{arguments.entries}.hfile"
    chance = random.Random(7)
    keys = sorted(str(uuid.UUID(int=chance.getrandbits(128))).encode() for _ in range(arguments.entries))
    if not path.exists():
        write(path, keys, chance)
    requested = sorted(chance.sample(keys, min(arguments.keys, len(keys))))
    del keys
    times = [look_up(path, requested) for _ in range(arguments.repetitions)]
    many, one, everything, cpu = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{len(requested)} of {arguments.entries} keys: {many:.3f} s, {cpu:.3f} s of all cores (goal {GOAL_SECONDS})")
    print(f"one key: {one * 1000:.1f} ms; all entries: {everything:.2f} s")
    return 1 if many > GOAL_SECONDS else 0


def write(path: Path, keys: list[bytes], chance: random.Random) -> None:
    """Write the file with locations in some hundred file groups."""
    encoder = RecordEncoder(9)
    groups = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(FILE_GROUPS)]
    values = [encoder.encode(RecordLocation("region=us", f"{group}-0", 1_772_922_274_124)) for group in groups]
    with path.open("wb") as sink:
        writer = HFileWriter(sink, created_ms=0)
        for key in keys:
            writer.append(key, chance.choice(values))
        writer.finish()


def look_up(path: Path, requested: list[bytes]) -> tuple[float, float, float, float]:
    """Return the seconds of looking many keys up, of one, and of reading all entries, each in a file just opened; and what
    the first took of all cores.
    """
    seconds, cpu = [], []
    size = path.stat().st_size
    for read in (lambda file: file.get_many(requested), lambda file: file.get_many(requested[:1]), lambda file: file.entries()):
        with path.open("rb") as source:
            started, used = time.perf_counter(), time.process_time()
            count = sum(1 for _ in read(HFileReader(source, size)))
            seconds.append(time.perf_counter() - started)
            cpu.append(time.process_time() - used)
            assert count in (len(requested), 1) or count > len(requested)
    return seconds[0], seconds[1], seconds[2], cpu[0]


if __name__ == "__main__":
    sys.exit(main())
