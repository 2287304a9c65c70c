"""A non-blocking writer to be killed: upserts rows of keys that others write too, and tells each write that succeeded.

Arguments: path of the table, number of the writer, number of writes. The ordering value of a row says which write it is of.
"""

from __future__ import annotations

import sys
from typing import Any

from pyhudi.table.hudi_table import HudiTable
from tests.unit.crash.writer_process import tell

WRITERS, KEYS = 3, 5
OPTIONS = {
    "hoodie.write.concurrency.mode": "non_blocking_concurrency_control",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
    "hoodie.client.heartbeat.interval_in_ms": "1000",
    "hoodie.client.heartbeat.tolerable.misses": "5",
}


def rows_of(writer: int, number: int) -> list[dict[str, Any]]:
    """Rows of shared keys, and one of a key of its own."""
    at = number * WRITERS + writer
    keys = (at % KEYS, (at + 1) % KEYS, 100 * (writer + 1) + number)
    return [{"id": key, "city": "oslo", "value": at} for key in keys]


def main(path: str, writer: str, count: str) -> None:
    table = HudiTable.open(path)
    tell("ready")
    for number in range(int(count)):
        table.upsert(rows_of(int(writer), number), options=OPTIONS)
        tell(number)


if __name__ == "__main__":
    main(*sys.argv[1:])
