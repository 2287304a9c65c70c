"""Changes of a database applied to a table, in whatever order they come.

A change log says of each change what the row is now, or that it was deleted, and at which position of the log (`lsn`) it is. Log shippers
deliver late and twice. The table orders by `lsn`: the greatest wins, so that a change that comes late, or again, changes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.examples import program

COLUMNS = pa.schema({"id": pa.int64(), "name": pa.string(), "balance": pa.int64(), "lsn": pa.int64()})


def show(folder: Path) -> None:
    """Apply four deliveries of a change log."""
    table = HudiTable.create(folder / "accounts", COLUMNS, name="accounts", keys=["id"], order_by=["lsn"], table_type="MERGE_ON_READ")
    deliver(table, "two accounts are opened", [change(1, "ada", 100, lsn=1), change(2, "bob", 50, lsn=2)])
    deliver(table, "both have paid and been paid", [change(1, "ada", 70, lsn=5), change(2, "bob", 80, lsn=4)])
    late = [change(1, "ada", 90, lsn=3), change(2, "bob", 80, lsn=6, deleted=True), change(3, "eve", 10, lsn=7)]
    deliver(table, "an older change of 1 comes late, 2 is closed, 3 is opened", late)
    deliver(table, "the same delivery comes once more", late)
    table.services.compact()
    deliver(table, "a compaction changes no row", [])


def change(id: int, name: str, balance: int, *, lsn: int, deleted: bool = False) -> dict[str, object]:  # noqa: A002 - the column's name
    """One change, as the log states it; `_hoodie_is_deleted` marks deleted rows."""
    return {"id": id, "name": name, "balance": balance, "lsn": lsn, "_hoodie_is_deleted": deleted}


def deliver(table: HudiTable, what: str, changes: list[dict[str, object]]) -> None:
    """Apply what was delivered, and print the table."""
    if changes:
        table.upsert(changes)
    print(f"{what}:")
    program.rows(table.to_arrow().sort_by("id").to_pylist(), COLUMNS.names)


def main(arguments: list[str] | None = None) -> int:
    """Run the example."""
    return program.run("database", show, arguments)


if __name__ == "__main__":
    sys.exit(main())
