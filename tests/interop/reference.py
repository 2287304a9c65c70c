"""Apache Hudi 1.2.0 as seen by a test: start it once, give it SQL and rows, get rows back as Arrow.

`make interop` sets PYHUDI_REFERENCE_PYTHON (a Python with pyspark 3.5) and PYHUDI_REFERENCE_JAR (the Hudi bundle).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

SERVER = Path(__file__).with_name("reference_server.py")
CONF = "conf"
PYTHON_VARIABLE = "PYHUDI_REFERENCE_PYTHON"
JAR_VARIABLE = "PYHUDI_REFERENCE_JAR"


class ReferenceFailure(Exception):
    """Apache Hudi refused or failed; the message is the chain of its Java exceptions."""


def why_no_reference() -> str | None:
    """The reason Apache Hudi can't be started here, or None."""
    for variable in (PYTHON_VARIABLE, JAR_VARIABLE):
        value = os.environ.get(variable)
        if not value:
            return f"{variable} is not set; `make interop` sets it"
        if not Path(value).exists():
            return f"{variable} names {value}, which does not exist"
    return None


@dataclass
class ReferenceHudi:
    """One Spark session with Apache Hudi in a process of its own."""

    scratch: Path
    #: How many rows were read by Apache Hudi and by pyhudi, and compared with the expected ones (`assert_both_read`).
    compared: int = 0
    _process: subprocess.Popen[str] = field(init=False, repr=False)
    _numbers: count[int] = field(default_factory=count, repr=False)

    def __enter__(self) -> Self:
        problem = why_no_reference()
        if problem:
            raise ReferenceFailure(problem)
        self.scratch.mkdir(parents=True, exist_ok=True)
        command = [os.environ[PYTHON_VARIABLE], str(SERVER), os.environ[JAR_VARIABLE], str(self.scratch)]
        (self.scratch / CONF).mkdir()
        # pyhudi's own Spark must not leak into Apache Hudi's.
        foreign = ("SPARK_HOME", "PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS")
        environment = {key: value for key, value in os.environ.items() if key not in foreign}
        environment["HUDI_CONF_DIR"] = str(self.scratch / CONF)
        (self.scratch / CONF / "hudi-defaults.conf").touch()
        with (self.scratch / "reference.log").open("w") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.scratch,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self._answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()

    def sql(self, *statements: str, conf: Mapping[str, str] | None = None) -> pa.Table:
        """Runs the statements in turn, with `conf` set in the session meanwhile; the last one's rows."""
        return self._call("sql", statements=statements, conf=dict(conf or {}))

    def read(self, path: Path | str, **options: str) -> pa.Table:
        """The rows of the table at `path` with the five meta columns; dots of an option's name are written `__`."""
        return self._call("read", path=str(path), options=_dotted(options))

    def export(self, path: Path | str, target: Path, **options: str) -> None:
        """Write the rows of the table at `path`, without meta columns, to a folder of Parquet files."""
        self._request("export", path=str(path), target=str(target), options=_dotted(options))

    def write(self, path: Path | str, rows: pa.Table, mode: str = "append", options: Mapping[str, str] | None = None) -> None:
        """`df.write.format("hudi").options(...).mode(mode).save(path)`."""
        source = self.scratch / f"rows-{next(self._numbers)}.parquet"
        pq.write_table(rows, source)
        self._call("write", path=str(path), source=str(source), mode=mode, options=dict(options or {}))
        source.unlink()

    @contextmanager
    def writing(self, path: Path | str, rows: pa.Table, options: Mapping[str, str], seconds: int = 20) -> Iterator[None]:
        """A write of layout 2 that has begun when the block begins, takes some seconds more, and is waited for at the block's end."""
        source = self.scratch / f"rows-{next(self._numbers)}.parquet"
        pq.write_table(rows, source)
        query = f"SELECT CASE WHEN java_method('java.lang.Thread', 'sleep', {seconds}000L) = 'never' THEN 0 ELSE 1 END#1"
        slow = {
            "hoodie.precommit.validators": "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator",
            "hoodie.precommit.validators.single.value.sql.queries": query,
        }
        self._request("begin_write", path=str(path), source=str(source), mode="append", options={**options, **slow})
        try:
            yield
        finally:
            self._request("end_write", path=str(path))
            source.unlink()

    def defaults(self, text: str) -> None:
        """Has `hudi-defaults.conf` say this, instead of nothing, from now on."""
        (self.scratch / CONF / "hudi-defaults.conf").write_text(text)
        self._request("defaults")

    def key_texts(self, rows: pa.Table, generators: Sequence[Mapping[str, Any]]) -> list[list[list[str]] | str]:
        """For each key generator (`class`, `options`) record key and partition path of every row, or what it raised."""
        source = self.scratch / f"rows-{next(self._numbers)}.parquet"
        pq.write_table(rows, source)
        strings: list[list[list[str]] | str] = self._request("key_texts", source=str(source), generators=list(generators))["texts"]
        source.unlink()
        return strings

    def retained(self, path: Path | str, conditions: Sequence[str], **options: str) -> dict[str, list[str]]:
        """For each condition the files of the table at `path` that a read would open; dots of an option's name are written `__`."""
        result: dict[str, list[str]] = self._request("retained", path=str(path), conditions=list(conditions), options=_dotted(options))[
            "retained"
        ]
        return result

    def dangling(self, path: Path | str, files: Sequence[str]) -> list[str]:
        """Return which of some files, given below the table's base, `HoodieRepairTool` would remove."""
        result: list[str] = self._request("dangling", path=str(path), files=list(files))["files"]
        return result

    def _call(self, operation: str, **request: Any) -> pa.Table:
        target = self.scratch / f"answer-{next(self._numbers)}.arrow"
        if not self._request(operation, target=str(target), **request).get("rows"):
            return pa.table({})
        with pa.OSFile(str(target), "rb") as file:
            table = pa.ipc.open_file(file).read_all()
        target.unlink()
        return table

    def _request(self, operation: str, **request: Any) -> dict[str, Any]:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"operation": operation, **request}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            log = (self.scratch / "reference.log").read_text()[-3000:]
            raise ReferenceFailure(f"Apache Hudi's process ended with code {self._process.poll()}; end of its log:\n{log}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ReferenceFailure(answer["error"])
        return answer


def _dotted(options: Mapping[str, str]) -> dict[str, str]:
    return {key.replace("__", "."): value for key, value in options.items()}
