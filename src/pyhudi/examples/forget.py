"""A person who asks to be forgotten.

A delete by any condition is one commit, and from then on no read of the current table finds the rows. That is not yet what a law that
asks for erasure means: files of earlier versions hold the rows until a cleaning deletes those files, time travel reads them, and change
logs, savepoints and the bounds that statistics keep may hold them too. Cleaning comes with a later release of pyhudi; Apache Hudi's
cleaner works on these tables today. What pyhudi can do by itself is at the end: a new table of the rows that are left, in the place of
the old one, while nobody reads or writes it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from pyhudi import HudiTable
from pyhudi.examples import program

COLUMNS = pa.schema({"id": pa.int64(), "person": pa.string(), "city": pa.string(), "amount": pa.int64()})
ADA = "person = 'ada'"


def show(folder: Path) -> None:
    """Delete a person's rows, and tell where they still stand."""
    table = make_folder(folder / "orders")
    table.bulk_insert([order(1, "ada", "oslo", 10), order(2, "bob", "oslo", 20), order(3, "ada", "lima", 30), order(4, "eve", "lima", 40)])
    before = table.history().column("completed")[-1].as_py()
    print(f"rows deleted: {table.delete(where=ADA).deleted}")
    print(f"rows of the person, read now: {table.count(filter=ADA)}")
    print(f"rows of the person, read as of before the delete: {table.count(filter=ADA, as_of=before)}")
    print(f"files that hold the person: {len(files_with(folder / 'orders', 'ada'))}")

    copy = make_folder(folder / "orders_copy")
    copy.bulk_insert(table)
    shutil.rmtree(folder / "orders")
    (folder / "orders_copy").rename(folder / "orders")
    table = HudiTable.open(folder / "orders")
    print(f"a new table of the rows that are left: {table.count()} rows, {len(files_with(folder / 'orders', 'ada'))} files with the person")


def make_folder(path: Path) -> HudiTable:
    """Return a new table of orders."""
    return HudiTable.create(path, COLUMNS, name="orders", keys=["id"], partition_by=["city"])


def order(id: int, person: str, city: str, amount: int) -> dict[str, object]:  # noqa: A002 - the column's name
    """Return a row of orders."""
    return {"id": id, "person": person, "city": city, "amount": amount}


def files_with(folder: Path, person: str) -> list[Path]:
    """Return the data files below a folder, of whatever version, that hold a row of the person."""
    return [path for path in folder.rglob("*.parquet") if person in parquet.read_table(path)["person"].to_pylist()]


def main(arguments: list[str] | None = None) -> int:
    """Run the example."""
    return program.run("forget", show, arguments)


if __name__ == "__main__":
    sys.exit(main())
