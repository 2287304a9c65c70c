"""The driver's end of a worker process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class WorkerProcess:
    """A contestant in its own process; Apache Hudi's run in Apache Hudi's Python."""

    def __init__(self, name: str, inputs: Path, work: Path) -> None:
        self.name = name
        python = os.environ["PYHUDI_REFERENCE_PYTHON"] if name.startswith("hudi_jvm") else sys.executable
        command = [python, "-m", "bench.worker", name, str(inputs), str(work)]
        log = (work / f"{name}.log").open("w")
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def call(self, method: str, argument: int) -> dict[str, object]:
        """Send one request and wait for its answer."""
        if self.process.stdin is None or self.process.stdout is None:
            return {"error": "worker has no pipes"}
        try:
            self.process.stdin.write(json.dumps({"method": method, "argument": argument}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"error": f"worker ended with {self.process.poll()}"}
        line = self.process.stdout.readline()
        return dict(json.loads(line)) if line else {"error": f"worker ended with {self.process.wait()}"}

    def close(self) -> None:
        """Let the worker end."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
