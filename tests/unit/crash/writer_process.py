"""A writer to be killed: writes numbered upserts to a table and tells each one that succeeded.

Arguments: path of the table, number of the first write, number of writes, name of the writer (its rows are its own).
"""

from __future__ import annotations

import sys
from typing import Any

from pyhudi.table.hudi_table import HudiTable
from tests.unit.crash.tables import ride

CITIES = ("oslo", "rome", "bern")


def rows_of(writer: str, number: int) -> list[dict[str, Any]]:
    """Rows that change old ones and add new ones, in two partitions."""
    first = 1000 * ord(writer)
    return [
        ride(first + number % 7, CITIES[number % 3], number),
        ride(first + 10 + number, CITIES[(number + 1) % 3], number),
    ]


def tell(what: Any) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main(path: str, first: str, count: str, writer: str) -> None:
    table = HudiTable.open(path)
    tell("ready")
    for number in range(int(first), int(first) + int(count)):
        table.upsert(rows_of(writer, number))
        tell(number)


if __name__ == "__main__":
    main(*sys.argv[1:])
