"""A daily pipeline from table to table.

`orders` captures its changes, `totals` holds one row a city. Each run reads what changed since the last one and adds the differences, so
that it costs what changed and not what is there. The time up to which `totals` counts is in its own rows, written by the same commit
as the sums: a run that is killed and started again neither drops nor doubles anything.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.examples import program

ORDERS = pa.schema({"id": pa.int64(), "city": pa.string(), "day": pa.string(), "amount": pa.int64()})
TOTALS = pa.schema({"city": pa.string(), "total": pa.int64(), "until": pa.string()})


def show(folder: Path) -> None:
    """Fill orders on three days, and bring the totals up to date after each."""
    capture = {"hoodie.table.cdc.enabled": "true"}
    orders = HudiTable.create(folder / "orders", ORDERS, name="orders", keys=["id"], partition_by=["day"], options=capture)
    totals = HudiTable.create(folder / "totals", TOTALS, name="totals", keys=["city"])
    orders.upsert([order(1, "oslo", "mon", 10), order(2, "lima", "mon", 20)])
    run(orders, totals, "monday: two orders")
    orders.upsert([order(2, "lima", "mon", 25), order(3, "oslo", "tue", 5)])
    run(orders, totals, "tuesday: one corrected, one new")
    orders.delete([{"id": 1, "day": "mon"}])
    run(orders, totals, "wednesday: one cancelled")
    run(orders, totals, "wednesday, run once more")


def run(orders: HudiTable, totals: HudiTable, what: str) -> None:
    """Add what changed since the last run to the totals."""
    known = {row["city"]: row for row in totals.to_arrow().to_pylist()}
    since = max((row["until"] for row in known.values()), default=None)
    until = orders.history().column("completed")[-1].as_py()
    changes = orders.changes(since, until, format="cdc").to_pylist()
    total = {city: row["total"] for city, row in known.items()}
    for change in changes:
        for image, sign in ((change["before"], -1), (change["after"], 1)):
            row = json.loads(image or "null")
            if row:
                total[row["city"]] = total.get(row["city"], 0) + sign * row["amount"]
    totals.upsert([{"city": city, "total": amount, "until": until} for city, amount in total.items()])
    print(f"{what}: {len(changes)} changes read")
    program.rows(totals.to_arrow().sort_by("city").to_pylist(), ("city", "total"))


def order(id: int, city: str, day: str, amount: int) -> dict[str, object]:  # noqa: A002 - the column's name
    """Return a row of orders."""
    return {"id": id, "city": city, "day": day, "amount": amount}


def main(arguments: list[str] | None = None) -> int:
    """Run the example."""
    return program.run("pipeline", show, arguments)


if __name__ == "__main__":
    sys.exit(main())
