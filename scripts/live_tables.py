"""Lets tables of random kinds live, and reports those that hold other rows than their model.

python -m scripts.live_tables [FIRST SEED] [LAST SEED] [STEPS] [PERCENT OF STEPS THAT FAIL AT ONE OF THEIR CALLS TO THE STORAGE]
"""

from __future__ import annotations

import logging
import sys
import time
import traceback

from tests.unit.lives.life_steps import live


def main(first: int = 0, last: int = 100, steps: int = 35, crashes: int = 0) -> int:
    """Return 1 when a table did not hold its rows."""
    logging.disable(logging.CRITICAL)  # refusals and their warnings are part of these lives
    failed, begun, refused = list[int](), time.process_time(), 0
    for seed in range(first, last):
        try:
            refused += live(seed, steps, crashes / 100).refused
        except Exception:  # noqa: BLE001 - whatever it is, it is reported with the seed, and the next table is tried
            failed.append(seed)
            print(f"table {seed}:\n{traceback.format_exc()}", flush=True)
    lives, seconds = last - first, time.process_time() - begun
    print(f"{lives} tables of {steps} steps, {refused} refused by name; {seconds:.0f} s of processor time; failed: {failed}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
