"""A child that a Spark driver forks during a write keeps no lock."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyhudi.txn.transaction import Transaction

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")]

CHILD_LIFE_S = 300
SHORT_WAIT = {"hoodie.write.lock.wait_time_ms": "100"}


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The children that each write forks while it holds the lock."""
    forked: list[int] = []
    start = Transaction.start

    def start_and_fork(self: Transaction, *args: Any, **more: Any) -> None:
        child = os.fork()
        if child == 0:
            time.sleep(CHILD_LIFE_S)
            os._exit(0)
        forked.append(child)
        start(self, *args, **more)

    monkeypatch.setattr(Transaction, "start", start_and_fork)
    yield forked
    for child in forked:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_writes_of_a_driver_continue_beside_its_children(spark: SparkSession, tmp_path: Path, children: list[int]) -> None:
    path = str(tmp_path / "t")
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", **SHORT_WAIT}
    for number in range(3):
        rows = spark.createDataFrame([(number, 1)], "id long, v long")
        rows.write.format("hudi").options(**options).mode("append").save(path)
    assert len(children) == 3
    assert spark.read.format("hudi").load(path).count() == 3
