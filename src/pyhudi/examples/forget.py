"""A person who asks to be forgotten.

A delete by any condition is one commit, and from then on no read of the current table finds the rows. That is not yet what a law that
asks for erasure means: files of earlier versions hold the rows until a clean deletes those files, and time travel reads them. By default
that happens some commits later. A clean that keeps one version of each file group does it at once, for readers of earlier states too: they
get an error that names the earliest time that can be read. Change logs go with the files that they were written with; savepoints keep
theirs, so delete savepoints of before. `dry_run` says in advance which files go.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.examples import program

COLUMNS = pa.schema({"id": pa.int64(), "person": pa.string(), "city": pa.string(), "amount": pa.int64()})
ADA = "person = 'ada'"
ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}


def show(folder: Path) -> None:
    """Delete a person's rows, and then the files that still hold them."""
    table = HudiTable.create(folder / "orders", COLUMNS, name="orders", keys=["id"], partition_by=["city"])
    table.bulk_insert([order(1, "ada", "oslo", 10), order(2, "bob", "oslo", 20), order(3, "ada", "lima", 30), order(4, "eve", "lima", 40)])
    before = table.history().column("completed")[-1].as_py()
    print(f"rows deleted: {table.delete(where=ADA).deleted}")
    print(f"rows of the person, read now: {table.count(filter=ADA)}")
    print(f"rows of the person, read as of before the delete: {table.count(filter=ADA, as_of=before)}")
    print(f"files that hold the person: {len(files_with(folder / 'orders', 'ada'))}")

    for result in table.services.clean(options=ONE_VERSION):
        print(f"files of earlier versions deleted: {result.total_files}")
    print(f"rows that are left: {table.count()}, files that hold the person: {len(files_with(folder / 'orders', 'ada'))}")
    try:
        table.count(as_of=before)
    except UsageError:
        print("the time before the delete cannot be read any more")


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
