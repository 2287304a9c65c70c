"""Parses mutated inputs, and reports what broke: `python -m scripts.fuzz_parsers [INPUTS OF EACH] [SEED]`."""

from __future__ import annotations

import sys
import time

from tests.unit.codec.parser_fuzz import PARSERS, fuzz

_MOST_SHOWN = 5


def main(inputs: int = 100_000, seed: int = 0) -> int:
    """Return 1 when an input broke a rule."""
    failed = False
    for name, parser in PARSERS.items():
        begin = time.process_time()
        outcome = fuzz(parser, inputs, seed)
        seconds = time.process_time() - begin
        made = f"{outcome.inputs:,} inputs, {outcome.size / 1e6:,.0f} MB, {outcome.errors:,} refused, {len(outcome.broken)} broke a rule"
        print(f"{name}: {made}; {outcome.inputs / seconds:,.0f} a second, slowest {outcome.slowest_s:.3f} s", flush=True)
        for problem, data in outcome.broken[:_MOST_SHOWN]:
            print(f"    {problem}: {data[:200]!r}")
        failed = failed or bool(outcome.broken)
    return failed


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
