"""A day written again from its source.

A backfill replaces partitions in one commit: readers see the old day or the new one, never a mixture and never a gap. The day as it was
can still be read by its time. Written twice, it is the same day. Only the partitions that are named may be touched, which keeps a wrong
row in the input from replacing another day.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.examples import program

COLUMNS = pa.schema({"id": pa.int64(), "day": pa.string(), "amount": pa.int64()})


def show(folder: Path) -> None:
    """Replace one day of three."""
    table = HudiTable.create(folder / "sales", COLUMNS, name="sales", keys=["id"], partition_by=["day"])
    table.bulk_insert([sale(1, "d1", 10), sale(2, "d2", 20), sale(3, "d2", -1), sale(4, "d3", 40)])
    report(table, "three days, the second with a wrong row")
    before = table.history().column("completed")[-1].as_py()

    second_day = [sale(2, "d2", 20), sale(3, "d2", 30), sale(5, "d2", 50)]
    table.overwrite(second_day, partitions=["d2"])
    report(table, "the second day from its source")
    table.overwrite(second_day, partitions=["d2"])
    report(table, "and once more")
    try:
        table.overwrite([sale(9, "d1", 90)], partitions=["d2"])
    except UsageError:
        report(table, "a row of the first day is refused in a backfill of the second")
    as_it_was = table.to_arrow(columns=["amount"], filter="day = 'd2'", as_of=before)
    print(f"the second day as it was: {sorted(as_it_was['amount'].to_pylist())}")


def sale(id: int, day: str, amount: int) -> dict[str, object]:  # noqa: A002 - the column's name
    """Return a row of sales."""
    return {"id": id, "day": day, "amount": amount}


def report(table: HudiTable, what: str) -> None:
    """Print the rows and sums of each day."""
    print(f"{what}:")
    days = table.to_arrow().group_by("day").aggregate([("id", "count"), ("amount", "sum")]).sort_by("day")
    program.rows(days.to_pylist(), ("day", "id_count", "amount_sum"))


def main(arguments: list[str] | None = None) -> int:
    """Run the example."""
    return program.run("backfill", show, arguments)


if __name__ == "__main__":
    sys.exit(main())
