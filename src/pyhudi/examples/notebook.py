"""A table in a notebook, with pandas, polars and DuckDB, and without Spark.

A table takes frames of pandas and polars and hands out what they read: it is a stream of Arrow data (`__arrow_c_stream__`), as polars and
DuckDB take it. `to_batches` gives a table of any size in bounded memory. pyhudi itself needs none of the three.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.examples import program

COLUMNS = pa.schema({"id": pa.int64(), "city": pa.string(), "amount": pa.int64()})


def show(folder: Path) -> None:
    """Write with pandas and polars, read with all three."""
    sales = HudiTable.create(folder / "sales", COLUMNS, name="sales", keys=["id"], partition_by=["city"])
    for name, use in {"pandas": with_pandas, "polars": with_polars, "duckdb": with_duckdb}.items():
        if importlib.util.find_spec(name) is None:
            print(f"{name}: left out, it is not installed")
        else:
            print(f"{name}:")
            use(sales)


def with_pandas(sales: HudiTable) -> None:
    """Write a frame of pandas, and read one."""
    import pandas as pd

    sales.upsert(pd.DataFrame({"id": [1, 2, 3], "city": ["oslo", "lima", "oslo"], "amount": [10, 20, 30]}))
    frame = sales.to_arrow(columns=["id", "amount"], filter="city = 'oslo'").to_pandas()
    print("  ", frame.sort_values("id").to_dict("records"))


def with_polars(sales: HudiTable) -> None:
    """Write a frame of polars, and read one: a table is a stream that polars takes."""
    import polars as pl

    sales.upsert(pl.DataFrame({"id": [3, 4], "city": ["oslo", "rome"], "amount": [35, 40]}))
    print("  ", pl.DataFrame(sales).group_by("city").agg(pl.col("amount").sum()).sort("city").rows())


def with_duckdb(sales: HudiTable) -> None:
    """Ask a table with SQL: DuckDB finds it by the name of its variable, and reads it as a stream."""
    import duckdb

    print("  ", duckdb.sql("SELECT count(*) AS sales, max(amount) AS largest FROM sales").fetchall())
    large = duckdb.from_arrow(sales.to_batches(columns=["city", "amount"], filter="amount > 15"))
    print("  ", large.order("amount").fetchall())


def main(arguments: list[str] | None = None) -> int:
    """Run the example."""
    return program.run("notebook", show, arguments)


if __name__ == "__main__":
    sys.exit(main())
