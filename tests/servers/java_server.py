"""Servers in Java from the jars of PySpark: started for tests on a free port, and ended by their own process."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark

JARS = Path(pyspark.__file__).parent / "jars"
SECONDS = 120


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def java_server(folder: Path, port: int, arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server whose main class and options are given, once it answers on its port."""
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    with server_process(folder, port, [str(java), *arguments]) as process:
        yield process


@contextmanager
def server_process(folder: Path, port: int, command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A server that the command starts, once it answers on its port."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        end = time.monotonic() + SECONDS
        while not answers(port):
            assert process.poll() is None, f"the server ended: {(folder / 'server.log').read_text()[-3000:]}"
            assert time.monotonic() < end, f"the server does not answer: {(folder / 'server.log').read_text()[-3000:]}"
            time.sleep(0.2)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def hive_metastore(folder: Path, port: int, *, is_test: bool = True) -> Iterator[str]:
    """A Hive metastore on a Derby database in the folder; its URI.

    With `is_test` it creates the tables of locks, but refuses locks of Apache Hudi, which name no type of operation.
    """
    properties = {
        "hive.async.log.enabled": "false",
        "derby.system.home": str(folder),
        "derby.system.durability": "test",  # a database of tests is not to survive a power cut: no waiting for the disk
        "derby.locks.deadlockTimeout": "1",  # seconds until it looks whether two wait for each other; 20 of its own
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/db;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
        "hive.metastore.warehouse.dir": f"file://{folder}/warehouse",
        "hive.metastore.schema.verification": "false",
        "datanucleus.schema.autoCreateAll": "true",
        "datanucleus.connectionPoolingType": "HIKARICP",
        "hive.in.test": str(is_test).lower(),
        "hive.compactor.initiator.on": "true",  # housekeeping: locks without heartbeats end
        "hive.txn.timeout": "6s",
        "hive.timedout.txn.reaper.start": "1s",
        "hive.timedout.txn.reaper.interval": "1s",
    }
    options = [f"-D{key}={text}" for key, text in properties.items()]
    main = "org.apache.hadoop.hive.metastore.HiveMetaStore"
    with java_server(folder, port, ["-Xmx400m", *options, "-cp", f"{JARS}/*", main, "-p", str(port)]):
        yield f"thrift://127.0.0.1:{port}"


@contextmanager
def hive_server(folder: Path, port: int, metastore: str) -> Iterator[str]:
    """A HiveServer2 on a metastore: the Thrift server of Spark, with Hudi's input formats; its JDBC URL.

    `PYHUDI_REFERENCE_JAR` has the formats. Its services and classes of Spark are left out: they are for another Spark.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(os.environ["PYHUDI_REFERENCE_JAR"]) as bundle, zipfile.ZipFile(folder / "formats.jar", "w") as formats:
        for name in bundle.namelist():
            if name.endswith(".class") and not name.startswith(("org/apache/spark/", "META-INF/")):
                formats.writestr(name, bundle.read(name))
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.hive.metastore.uris": metastore,
        "spark.sql.hive.convertMetastoreParquet": "false",  # else Spark reads all Parquet files, and asks no input format
    }
    hive = {"hive.server2.thrift.port": str(port), "hive.server2.thrift.bind.host": "127.0.0.1"}
    command = [
        *(str(JARS.parent / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"),
        *("--master", "local[1]", "--driver-memory", "700m", "--driver-class-path", str(folder / "formats.jar")),
        *(part for key, text in settings.items() for part in ("--conf", f"{key}={text}")),
        *(part for key, text in hive.items() for part in ("--hiveconf", f"{key}={text}")),
        "spark-internal",
    ]
    with server_process(folder, port, command):
        yield f"jdbc:hive2://127.0.0.1:{port}"
