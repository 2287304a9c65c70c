"""A driver whose executors are processes: it runs actions, each with a fault in its tasks, and prints what is wrong afterwards.

python -m tests.spark.cluster.driver FOLDER [ACTION:POINT:WHAT ...]
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import pyhudi
from pyhudi import HudiTable
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.spark.engine.task_engine import SparkEngine
from pyhudi.spark.index_join import key_join
from pyhudi.spark.jvm.jvm import java_class
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults

FAULTS = Path(__file__).parent / "faults"
ROWS = 40
TABLE = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "n",
    "hoodie.compact.inline": "false",
    "hoodie.clean.automatic": "false",
    "pyhudi.engine": "spark",
}
Rows = dict[int, int]


def session(folder: Path) -> SparkSession:
    """Two executors of one core, which repeat tasks and start slow ones twice."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.5",
        "spark.speculation.minTaskRuntime": "3s",
        "spark.executorEnv.PYTHONPATH": f"{FAULTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "spark.executorEnv.PYHUDI_TEST_FAULTS": str(folder),
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings)  # type: ignore[arg-type]
    made = pyhudi.enable(builder).getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


class Driver:
    """Runs the actions on a table of each kind; `expected` are the rows that the table has."""

    def __init__(self, spark: SparkSession, folder: Path, kind: str) -> None:
        self.spark, self.folder, self.path = spark, folder, folder / kind
        self.kind, self.number = kind, 0
        self.expected: Rows = {}

    def frame(self, first: int, last: int, n: int) -> DataFrame:
        """Rows of four partitions."""
        return self.spark.range(first, last, 1, 2).selectExpr("id", "concat('c', id % 4) AS city", f"{n}L AS n")

    def write(self, operation: str, first: int, last: int, n: int, **more: str) -> None:
        """Write rows to the table."""
        options = {**TABLE, "hoodie.datasource.write.table.type": self.kind, "hoodie.datasource.write.operation": operation, **more}
        self.frame(first, last, n).write.format("hudi").options(**options).mode("append").save(str(self.path))

    def run(self, action: str, point: str, what: str) -> None:
        """Run an action with a fault in its tasks."""
        self.number += 1
        processes = [os.getpid(), int(java_class(self.spark, "java.lang.ProcessHandle").current().pid())]
        plan = {"number": self.number, "point": point, "what": what, "times": 1, "driver": processes}
        (self.folder / "fault.json").write_text(json.dumps(plan))
        actions: dict[str, Callable[[], None]] = {
            "bulk_insert": lambda: self.write("bulk_insert", 0, ROWS, 0),
            "insert": lambda: self.write("insert", ROWS, 2 * ROWS, 0),
            "upsert": lambda: self.write("upsert", ROWS // 2, ROWS + ROWS // 2, self.number),
            "lookup_again": self.look_up_again,
            "blind_lookup_again": self.look_up_again_without_keys,
            "server_markers": lambda: self.write("upsert", 0, 8, self.number, **{"hoodie.write.markers.type": "TIMELINE_SERVER_BASED"}),
            "delete": lambda: self.write("delete", 0, 8, 0),
            "merge": self.merge,
            "compact": lambda: self.service("compact"),
            "cluster": lambda: self.service("cluster"),
        }
        actions[action]()
        self.expected.update(self.change(action))
        for id_ in range(8 if action == "delete" else 0):
            self.expected.pop(id_, None)

    def change(self, action: str) -> Rows:
        """Return the rows that an action writes."""
        ranges = {
            "bulk_insert": (0, ROWS),
            "insert": (ROWS, 2 * ROWS),
            "upsert": (ROWS // 2, ROWS + ROWS // 2),
            "lookup_again": (ROWS // 2, ROWS + ROWS // 2),
            "blind_lookup_again": (ROWS // 2, ROWS + ROWS // 2),
            "server_markers": (0, 8),
            "merge": (ROWS - 4, ROWS + 4),
        }
        n = 0 if action in {"bulk_insert", "insert"} else self.number
        return dict.fromkeys(range(*ranges.get(action, (0, 0))), n)

    def look_up_again(self) -> None:
        """An upsert whose rows and stored keys are joined by a shuffle, so that a stage that looks keys up can be repeated."""
        self.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        self.write("upsert", ROWS // 2, ROWS + ROWS // 2, self.number)

    def look_up_again_without_keys(self) -> None:
        """The same with a defect: once the fault has happened, a look-up that is repeated finds no stored key (Apache Hudi's #8474)."""
        stored_keys, happened = key_join._stored_keys, self.folder / f"happened-{self.number}-0"

        def defect(session: SparkSession, storage: Storage, files: Sequence[BaseFile]) -> DataFrame:
            keys = stored_keys(session, storage, files)
            return keys.mapInArrow(lambda batches: () if happened.exists() else batches, keys.schema)

        key_join._stored_keys = defect
        try:
            self.look_up_again()
        finally:
            key_join._stored_keys = stored_keys

    def merge(self) -> None:
        """MERGE INTO by SQL."""
        self.frame(ROWS - 4, ROWS + 4, self.number).createOrReplaceTempView("changes")
        for name in ("pyhudi.engine", "hoodie.compact.inline", "hoodie.clean.automatic"):
            self.spark.conf.set(name, TABLE[name])
        self.spark.sql(f"CREATE TABLE IF NOT EXISTS t_{self.kind} USING hudi LOCATION '{self.path}'")
        self.spark.sql(
            f"MERGE INTO t_{self.kind} AS t USING changes AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    def service(self, name: str) -> None:
        """Run a table service by tasks."""
        services, engine = HudiTable.open(self.path).services, SparkEngine(self.spark)
        done = services.compact(engine=engine) if name == "compact" else services.cluster(engine=engine)
        assert len(done) == 1, (name, done)


def rows_of(path: Path) -> list[tuple[int, int]]:
    """Return the rows of a table, each as often as it is there."""
    return sorted((row["id"], row["n"]) for row in HudiTable.open(path).to_arrow(columns=["id", "n"]).to_pylist())


def faults(path: Path) -> list[str]:
    """Return what is wrong with a table at rest: timeline, files without commit, commits without file, metadata table, folders."""
    table = HudiTable.open(path)
    wrong = timeline_faults(table.storage) + garbage(table.storage) + folders_without_metafile(table.storage)
    wrong += dangling_references(table.storage, row_count)
    return wrong + [str(row) for row in table.inspect.health().to_pylist()] + [str(row) for row in table.inspect.verify().to_pylist()]


def say(line: Mapping[str, object]) -> None:
    """Print a line of JSON at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run the actions; print a line of JSON for each, with what is wrong after it."""
    folder, kind = Path(sys.argv[1]), sys.argv[2]
    driver = Driver(session(folder), folder, kind)
    for step in sys.argv[3:]:
        action, point, what = step.split(":")
        say({"begins": step})
        try:
            driver.run(action, point, what)
            happened = len(list(folder.glob(f"happened-{driver.number}-*")))
            wrong = faults(driver.path)
            if rows_of(driver.path) != sorted(driver.expected.items()):
                wrong.append(f"rows are {rows_of(driver.path)}, not {sorted(driver.expected.items())}")
        except Exception as error:  # noqa: BLE001 - the test says which
            happened, wrong = -1, [f"{type(error).__name__}: {error}"]
        say({"step": step, "happened": happened, "wrong": wrong})
    driver.spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
