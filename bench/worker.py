"""One contestant in a process of its own, told what to do by JSON lines, answering with seconds.

The driver (`bench.run`) keeps the workers of one rotation alive, so that no contestant pays for its start inside a measurement and none
disturbs another's memory. A method is timed here, in the worker; preparation (a fresh copy of the table) is not.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path


def main() -> None:
    """Serve `{"method": ..., "argument": n}` lines until the input ends."""
    name, inputs, work = sys.argv[1:4]
    # What a JVM or a library prints belongs to the log: only answers may stand on the pipe.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    contestant = importlib.import_module(f"bench.contestants.{name}").Contestant(Path(inputs), Path(work))
    for line in sys.stdin:
        request = json.loads(line)
        answer = answer_to(contestant, request["method"], request["argument"])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def answer_to(contestant: object, method: str, argument: int) -> dict[str, object]:
    """Prepare, run and time one method; an error becomes part of the answer."""
    prepare = getattr(contestant, f"prepare_{method}", None)
    try:
        if prepare is not None:
            prepare(argument)
        started = time.perf_counter()
        result = getattr(contestant, method)(argument)
        return {"seconds": time.perf_counter() - started, "result": result}
    except Exception:
        return {"error": traceback.format_exc()}


if __name__ == "__main__":
    main()
