"""Spark's Thrift server inside this process, whose sessions read Hudi tables as the session does that it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def thrift_server(session: SparkSession, settings: Mapping[str, str]) -> Iterator[int]:
    """Serve while the context lasts, and give the port at which the server listens.

    Args:
        session: An enabled session; each connection gets a new one of the same application.
        settings: Settings of Hive's server, as `hive.server2.thrift.port`.
    """
    java = session._jvm  # noqa: SLF001 - py4j's entry point has no public name
    for key, value in settings.items():
        java.java.lang.System.setProperty(key, value)  # type: ignore[union-attr]
    server = getattr(java, "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2$").__getattr__("MODULE$")
    started = server.startWithSparkSession(session._jsparkSession.newSession(), False)  # noqa: SLF001
    try:
        services = [service for service in started.getServices() if "Thrift" in service.getName()]
        yield int(services[0].getPortNumber())
    finally:
        started.stop()
