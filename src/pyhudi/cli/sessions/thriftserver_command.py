"""`thriftserver`: Spark's Thrift server for JDBC tools, whose sessions read Hudi tables."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import click

from pyhudi.cli.sessions.spark_flags import start_session, takes_spark_flags
from pyhudi.cli.shared.options_text import pairs


@click.command()
@takes_spark_flags
@click.option("--port", type=click.IntRange(0, 65535), default=10000, show_default=True, help="0 takes a port that is free.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--hiveconf", "hive_settings", multiple=True, metavar="KEY=VALUE", help="A setting of the server, as hive.server2.*.")
def thriftserver(**flags: Any) -> None:
    """Serve Hudi tables to JDBC and ODBC tools until it is interrupted.

    Statements of such tools run inside the JVM: they read Hudi tables; what would write one is refused.
    """
    session = start_session(flags)
    settings = {
        "hive.server2.thrift.port": str(flags["port"]),
        "hive.server2.thrift.bind.host": flags["host"],
        **pairs(flags["hive_settings"]),
    }
    with importlib.import_module("pyhudi.spark.catalog.thrift_server").thrift_server(session, settings) as port:
        click.echo(f"jdbc:hive2://{settings['hive.server2.thrift.bind.host']}:{port}/default")
        threading.Event().wait()
