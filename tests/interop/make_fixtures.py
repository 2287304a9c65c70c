"""Makes the tables of tests/fixtures/apache_hudi and promoted with Apache Hudi 1.2.0: `python -m tests.interop.make_fixtures [name ...]`.

Each `<name>.zip` holds the folder `<name>` (the table, Hadoop's checksum files included) and `<name>.expected.parquet`,
the rows that Apache Hudi itself reads from it. Of a merge-on-read table these are the rows of its base files (a read
optimized query); the rows of a snapshot query are in `<name>.snapshot.parquet`; of one that captures changes
`<name>.changes.parquet` holds these. Run it with the variables that `make interop` sets.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

from tests.interop.change_data_recipes import changes
from tests.interop.recipes import RECIPES, options
from tests.interop.reference import ReferenceHudi

FIXTURES = Path(__file__).parents[1] / "fixtures"


def pack(name: str, folder: Path) -> None:
    target = FIXTURES / RECIPES[name].folder
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))


def make(reference: ReferenceHudi, name: str, folder: Path) -> None:
    """The table in `folder / name`, and beside it the rows that Apache Hudi reads from it."""
    recipe = RECIPES[name]
    given = options(name, recipe.version)
    recipe.make(reference, folder / name, given)
    reference.sql(f"SET spark.sql.parquet.enableVectorizedReader={str(recipe.vectorized).lower()}")
    expected = folder / f"{name}.expected.parquet"
    if name.startswith("merge_on_read"):
        pq.write_table(reference.read(folder / name, hoodie__datasource__query__type="read_optimized"), expected)
        rows = recipe.snapshot(reference, folder / name, given) if recipe.snapshot else reference.read(folder / name)
        pq.write_table(rows, folder / f"{name}.snapshot.parquet")
    else:
        pq.write_table(reference.read(folder / name), expected)
    if "change_data" in name:
        pq.write_table(changes(reference, folder / name), folder / f"{name}.changes.parquet")


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch, ReferenceHudi(Path(scratch) / "reference") as reference:
        for name in names or RECIPES:
            folder = Path(scratch) / name
            folder.mkdir()
            make(reference, name, folder)
            pack(name, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
