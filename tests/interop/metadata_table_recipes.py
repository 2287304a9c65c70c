"""Makes the tables of tests/fixtures/metadata_tables: version 6, every index that it has, after every kind of action.

`python -m tests.interop.metadata_table_recipes NAME` makes `NAME.zip` with the bundle that PYHUDI_REFERENCE_JAR names, of Hudi 1.2.0 or
0.15.0.
Hadoop's checksum files are left out.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

from tests.interop.failing import fail_commit
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips

FOLDER = Path(__file__).parents[1] / "fixtures" / "metadata_tables"
INDEXES = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.compact.max.delta.commits": "4",
}
# For statements: Hudi 0.15 drops what is not asked for, and 1.2 takes a table without version for one to upgrade.
SESSION = INDEXES | {"hoodie.write.table.version": "6"}
TABLE = SESSION | {
    "hoodie.table.name": "all_mor",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "amount",
    "hoodie.datasource.write.operation": "upsert",
    "hoodie.compact.inline": "false",
}


def every_action(reference: ReferenceHudi, path: Path) -> None:
    """Updates, deletes, a compaction, a rollback, an overwritten partition and a clean; the metadata table is compacted in between."""
    reference.write(path, trips(0, 4), "append", TABLE)
    reference.write(path, trips(2, 6, amount=1), "append", TABLE)
    reference.write(path, trips(1, 3, amount=2), "append", TABLE | {"hoodie.datasource.write.operation": "delete"})
    reference.write(path, trips(3, 8, amount=3), "append", TABLE)
    once = {"hoodie.compact.inline.max.delta.commits": "1"}
    reference.sql(f"CALL run_compaction(op => 'schedule', path => '{path}')", conf=SESSION | once)
    reference.write(path, trips(4, 6, amount=4), "append", TABLE)
    reference.sql(f"CALL run_compaction(op => 'run', path => '{path}')", conf=SESSION)
    fail_commit(reference, path, trips(2, 9, amount=6), TABLE)
    reference.write(path, trips(5, 9, amount=7), "append", TABLE)
    reference.write(path, trips(6, 7, amount=8), "append", TABLE | {"hoodie.datasource.write.operation": "insert_overwrite"})
    reference.sql(f"CREATE TABLE all_mor USING hudi LOCATION '{path}'")
    reference.sql("CALL run_clean(table => 'all_mor', retain_commits => 1)", conf=SESSION)
    reference.write(path, trips(9, 12, amount=9), "append", TABLE)


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as scratch, ReferenceHudi(Path(scratch) / "reference") as reference:
        every_action(reference, Path(scratch) / "all_mor")
        with zipfile.ZipFile(FOLDER / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for file in sorted((Path(scratch) / "all_mor").rglob("*")):
                if file.suffix != ".crc":
                    archive.write(file, file.relative_to(scratch))


if __name__ == "__main__":
    main(sys.argv[1])
