"""Trino with its Hudi connector in one process (TrinoShell.java), on a Glue catalog and S3. `make test-trino` fetches its jars."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

#: Trino's blocks use vectors of the CPU, a module that Java loads on request.
_MODULES = ("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow")
_SHORT_LIVED = ("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@dataclass
class Trino:
    """A running Trino; `rows` of a statement as texts in Java's form, `[1, oslo]`."""

    process: subprocess.Popen[str]
    log: Path

    def rows(self, statement: str) -> list[str]:
        assert self.process.stdin is not None
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        rows = []
        while (line := self.line()) != "end":
            assert line.startswith("row\t"), f"{statement}: {line}"
            rows.append(line.removeprefix("row\t"))
        return rows

    def line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"Trino ended: {self.log.read_text()[-3000:]}"
        return line.rstrip("\n")


@contextmanager
def trino_shell(folder: Path, server: Mapping[str, str]) -> Iterator[Trino]:
    """Trino on the Glue catalog and the buckets of moto's server, whose storage options are given."""
    home = Path(os.environ["PYHUDI_TRINO"])
    url, key, secret, region = (server[name] for name in ("endpoint_url", "key", "secret", "region"))
    glue = {"endpoint-url": url, "region": region, "aws-access-key": key, "aws-secret-key": secret, "partitions-segments": "1"}
    s3 = {"endpoint": url, "region": region, "aws-access-key": key, "aws-secret-key": secret, "path-style-access": "true"}
    settings = {
        "hive.metastore": "glue",
        "fs.s3.enabled": "true",
        **{f"hive.metastore.glue.{name}": text for name, text in glue.items()},
        **{f"s3.{name}": text for name, text in s3.items()},
    }
    java = (home / "java-home").read_text().strip() + "/bin/java"
    source = str(Path(__file__).with_name("TrinoShell.java"))
    command = [java, *_SHORT_LIVED, *_MODULES, "-cp", f"{home}/jars/*", source, *(f"{name}={text}" for name, text in settings.items())]
    environment = {name: text for name, text in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    log = folder / "trino.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        trino = Trino(process, log)
        assert trino.line() == "ready"
        yield trino
    finally:
        process.kill()
        process.communicate()
