"""The first tasks of a newcomer, in three libraries: what exists, in how many lines, and how long it takes.

    python -m bench.newcomer --work <scratch folder> [--rows N]

Each task is the code that a user types; it is run as it is printed, in the order of the list, on a table of its own for each library. The
libraries take turns task by task, after a first round on ten rows. Needs deltalake and pyiceberg
(`pip install deltalake 'pyiceberg[sql-sqlite]' polars duckdb`); a library that is missing is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

TASKS: Final = (
    "create and fill",
    "upsert",
    "update",
    "merge",
    "delete",
    "time travel",
    "restore",
    "lazy scan, polars",
    "SQL, DuckDB",
    "history",
    "notebook output",
)

PYHUDI: Final = {
    "create and fill": """
table = pyhudi.HudiTable.create(path, rows.schema, name="rides", keys=["id"])
first = table.insert(rows)""",
    "upsert": "table.upsert(changes)",
    "update": "table.update({'fare': 'fare * 2'}, where=\"city = 'oslo'\")",
    "merge": "table.merge(changes).when_matched_update({'fare': 'source.fare'}).when_not_matched_insert().execute()",
    "delete": "table.delete(where='fare < 5')",
    "time travel": "table.to_arrow(as_of=first.completed)",
    "restore": "table.restore(first.instant)",
    "lazy scan, polars": "table.scan().to_polars().filter(polars.col('fare') > 90).select('id').collect()",
    "SQL, DuckDB": """
rides = table.scan()
duckdb.sql("SELECT city, sum(fare) FROM rides GROUP BY city").fetchall()""",
    "history": "table.history()",
    "notebook output": "table._repr_html_()",
}
DELTALAKE: Final = {
    "create and fill": """
deltalake.write_deltalake(path, rows)
table = deltalake.DeltaTable(path)""",
    "upsert": """
merge = table.merge(changes, "t.id = s.id", source_alias="s", target_alias="t")
merge.when_matched_update_all().when_not_matched_insert_all().execute()""",
    "update": "table.update({'fare': 'fare * 2'}, predicate=\"city = 'oslo'\")",
    "merge": """
merge = table.merge(changes, "t.id = s.id", source_alias="s", target_alias="t")
merge.when_matched_update({"fare": "s.fare"}).when_not_matched_insert_all().execute()""",
    "delete": "table.delete('fare < 5')",
    "time travel": "deltalake.DeltaTable(path, version=0).to_pyarrow_table()",
    "restore": "table.restore(0)",
    "lazy scan, polars": "polars.scan_delta(path).filter(polars.col('fare') > 90).select('id').collect()",
    "SQL, DuckDB": """
rides = table.to_pyarrow_dataset()
duckdb.sql("SELECT city, sum(fare) FROM rides GROUP BY city").fetchall()""",
    "history": "table.history()",
    "notebook output": None,
}
PYICEBERG: Final = {
    "create and fill": """
catalog = pyiceberg.catalog.load_catalog("c", type="sql", uri=f"sqlite:///{path}.db", warehouse=f"file://{path}")
catalog.create_namespace("n")
table = catalog.create_table("n.rides", rows.schema)
table.append(rows)""",
    "upsert": "table.upsert(changes, join_cols=['id'])",
    "update": None,
    "merge": None,
    "delete": "table.delete('fare < 5')",
    "time travel": "table.scan(snapshot_id=table.history()[0].snapshot_id).to_arrow()",
    "restore": "table.manage_snapshots().rollback_to_snapshot(table.history()[0].snapshot_id).commit()",
    "lazy scan, polars": "polars.scan_iceberg(table).filter(polars.col('fare') > 90).select('id').collect()",
    "SQL, DuckDB": """
rides = table.scan().to_arrow()
duckdb.sql("SELECT city, sum(fare) FROM rides GROUP BY city").fetchall()""",
    "history": "table.history()",
    "notebook output": None,
}
LIBRARIES: Final[Mapping[str, Mapping[str, str | None]]] = {"pyhudi": PYHUDI, "deltalake": DELTALAKE, "pyiceberg": PYICEBERG}


def rides(rows: int, start: int = 0) -> pa.Table:
    """Return rows with the ids from `start` on."""
    ids = range(start, start + rows)
    cities = ["oslo", "rome", "lima"]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "city": [cities[number % 3] for number in ids],
            "fare": [float(number % 100) for number in ids],
        }
    )


def lines(code: str) -> int:
    """Return the number of lines of a task."""
    return len(code.strip().splitlines())


class Newcomer:
    """One library: the names that its code uses."""

    def __init__(self, library: str, work: Path, rows: int) -> None:
        path = work / f"newcomer-{library}"
        shutil.rmtree(path, ignore_errors=True)
        Path(f"{path}.db").unlink(missing_ok=True)
        self.tasks = LIBRARIES[library]
        data = {"path": str(path), "rows": rides(rows), "changes": rides(max(2, rows // 100), rows - max(1, rows // 200))}
        self.names: dict[str, Any] = data | {name: importlib.import_module(name) for name in (library, "polars", "duckdb")}
        if library == "pyiceberg":
            importlib.import_module("pyiceberg.catalog")

    def run(self, task: str) -> tuple[int, float] | str | None:
        """Return the lines and seconds of a task, its error, or None when the library has no call for it."""
        code = self.tasks[task]
        if code is None:
            return None
        started = time.perf_counter()
        try:
            exec(code, self.names)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:60]}"
        return lines(code), time.perf_counter() - started


def table_of(work: Path, rows: int) -> list[list[str]]:
    """Return the cells of the table: a task, then each library that is installed."""
    names = [name for name in LIBRARIES if importlib.util.find_spec(name) is not None]
    for name in names:  # a first round loads what the libraries import on their first use
        warm = Newcomer(name, work, 10)
        for task in TASKS:
            warm.run(task)
    newcomers = [Newcomer(name, work, rows) for name in names]
    result = [["task", *names]]
    for task in TASKS:
        cells = [newcomer.run(task) for newcomer in newcomers]
        result.append([task, *(_cell(cell) for cell in cells)])
    return result


def _cell(result: tuple[int, float] | str | None) -> str:
    if result is None:
        return "no call"
    if isinstance(result, str):
        return result
    count, seconds = result
    return f"{count} line{'' if count == 1 else 's'}, {seconds * 1000:.0f} ms"


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.newcomer", description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(BrokenPipeError):
        head, *body = table_of(given.work, given.rows)
        print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
        print("\n".join(f"| {' | '.join(row)} |" for row in body))


if __name__ == "__main__":
    main()
