"""How each fixture table is made with Apache Hudi; `make_fixtures.py` runs these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from tests.interop import change_data_recipes as cdc
from tests.interop import lifetime_recipes as life
from tests.interop import merge_on_read_recipes as mor
from tests.interop import merge_rule_recipes as rules
from tests.interop.failing import fail_commit
from tests.interop.promoted_recipes import promoted_types, promoted_types_in_logs
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import every_type, trips

KEYED = {"hoodie.datasource.write.recordkey.field": "id"}
PARTITIONED = KEYED | {"hoodie.datasource.write.partitionpath.field": "city"}


@dataclass(frozen=True)
class Recipe:
    """Makes one table; `version` is what it is told to write."""

    make: Callable[[ReferenceHudi, Path, dict[str, str]], None]
    version: int = 9
    snapshot: Callable[[ReferenceHudi, Path, dict[str, str]], pa.Table] | None = None
    """Says what the rows are, where Apache Hudi can't read what it wrote."""
    vectorized: bool = True
    """Whether Apache Hudi reads it with Spark's vectorized reader, which fails over types that were widened inside lists and maps."""
    folder: str = "apache_hudi"
    """Where the fixture lies. What every fixture test can read is in `reference`."""


def options(name: str, version: int, **more: str) -> dict[str, str]:
    return {"hoodie.table.name": name, "hoodie.write.table.version": str(version), **more}


def completed(path: Path) -> list[str]:
    """Request times of the completed commits, oldest first."""
    return sorted(file.name.split("_")[0] for file in (path / ".hoodie/timeline").glob("[0-9]*_*.commit"))


def all_types(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    reference.write(path, every_type(), "overwrite", table | KEYED | {"hoodie.datasource.write.partitionpath.field": "part"})


def sql_operations(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Every statement that makes its own kind of instant, empty ones included."""
    name = table["hoodie.table.name"]
    version = table["hoodie.write.table.version"]
    create = (
        f"CREATE TABLE {name} (id STRING, n INT, price DECIMAL(10,2), dt STRING) USING hudi PARTITIONED BY (dt) "
        f"TBLPROPERTIES (primaryKey='id', preCombineField='n', 'hoodie.write.table.version'='{version}') "
        f"LOCATION '{path}'"
    )
    statements = [
        create,
        f"INSERT INTO {name} VALUES ('a',1,1.5,'2026-01-01'),('b',2,2.5,'2026-01-01'),('c',3,3.5,'2026-01-02')",
        f"UPDATE {name} SET price = 9 WHERE id = 'a'",
        f"DELETE FROM {name} WHERE id = 'b'",
        f"DELETE FROM {name} WHERE dt = '2026-01-02'",
        f"INSERT INTO {name} VALUES ('e',5,5.5,'2026-01-02'),('f',6,6.5,'2026-01-03')",
        f"INSERT OVERWRITE {name} PARTITION (dt='2026-01-01') SELECT 'g', 1, CAST(1 AS DECIMAL(10,2))",
        f"ALTER TABLE {name} DROP PARTITION (dt='2026-01-03')",
        f"DELETE FROM {name} WHERE id = 'nobody'",
        f"INSERT INTO {name} VALUES ('h',7,7.5,'2026-01-03')",
    ]
    reference.sql(*statements, conf={"hoodie.write.table.version": version})


def overwritten_table(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    reference.write(path, trips(0, 6), "overwrite", table | PARTITIONED)
    overwrite = {"hoodie.datasource.write.operation": "insert_overwrite_table"}
    reference.write(path, trips(4, 8), "append", table | PARTITIONED | overwrite)


def cleaned_and_archived(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Old slices are cleaned away, old instants are in the history."""
    keep = {
        "hoodie.keep.min.commits": "2",
        "hoodie.keep.max.commits": "3",
        "hoodie.clean.commits.retained": "1",
    }
    for step in range(8):
        reference.write(path, trips(0, 2 + step, amount=step), "append", table | PARTITIONED | keep)


def savepointed(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    for step in range(3):
        reference.write(path, trips(0, 2 + step, amount=step), "append", table | PARTITIONED)
    instant = completed(path)[1]
    reference.sql(f"CALL create_savepoint(path => '{path}', commit_time => '{instant}', user => 'u', comments => 'c')")


def restored(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    savepointed(reference, path, table)
    reference.sql(f"CALL rollback_to_savepoint(path => '{path}', instant_time => '{completed(path)[1]}')")


def pending_write(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """A commit died after its data files: `MARKERS0` of the timeline server."""
    reference.write(path, trips(0, 4), "append", table | PARTITIONED)
    fail_commit(reference, path, trips(2, 8, amount=9), table | PARTITIONED)


def pending_write_direct(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """The same with a marker file for each data file."""
    pending_write(reference, path, table | {"hoodie.write.markers.type": "DIRECT"})


def rolled_back(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    pending_write(reference, path, table)
    reference.write(path, trips(3, 5, amount=2), "append", table | PARTITIONED)


def keyless(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    for _ in range(2):
        reference.write(path, trips(0, 4), "append", table | {"hoodie.datasource.write.partitionpath.field": "city"})


def complex_keys(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Two key fields, two partition fields, hive style."""
    keys = {
        "hoodie.datasource.write.recordkey.field": "id,amount",
        "hoodie.datasource.write.partitionpath.field": "city,amount",
        "hoodie.datasource.write.hive_style_partitioning": "true",
    }
    reference.write(path, trips(0, 4), "append", table | keys)


def encoded_partitions(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    cities = ["x/y", "a b", "é:=%", "", None]
    rows = trips(0, 5).set_column(1, "city", pa.array(cities, pa.string()))
    encoding = {
        "hoodie.datasource.write.partitionpath.urlencode": "true",
        "hoodie.datasource.write.hive_style_partitioning": "true",
    }
    reference.write(path, rows, "append", table | PARTITIONED | encoding)


def added_column(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    reference.write(path, trips(0, 4), "append", table | PARTITIONED)
    wider = trips(3, 6).append_column("note", pa.array(["n3", None, "n5"]))
    reference.write(path, wider, "append", table | PARTITIONED)


def widened_column(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """An int column that became long, a float that became double: old files hold the narrow type."""
    narrow = pa.table({"id": ["a", "b"], "n": pa.array([1, 2], pa.int32()), "f": pa.array([0.5, None], pa.float32())})
    reference.write(path, narrow, "append", table | KEYED)
    wide = pa.table({"id": ["c"], "n": pa.array([2**40], pa.int64()), "f": pa.array([0.1], pa.float64())})
    small_files = {"hoodie.parquet.small.file.limit": "0"}
    reference.write(path, wide, "append", table | KEYED | small_files)


def with_metadata_table(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """What Apache Hudi does unless an option says otherwise."""
    reference.write(path, trips(0, 4), "append", table | PARTITIONED | {"hoodie.metadata.enable": "true"})
    reference.write(path, trips(2, 6, amount=1), "append", table | PARTITIONED | {"hoodie.metadata.enable": "true"})


def merge_on_read(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Base files of four trips, log files with updates of two of them and a new one."""
    mor = {"hoodie.datasource.write.table.type": "MERGE_ON_READ", "hoodie.compact.inline": "false"}
    reference.write(path, trips(0, 4), "append", table | PARTITIONED | mor)
    reference.write(path, trips(2, 4, amount=1), "append", table | PARTITIONED | mor)


def virtual_keys(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    reference.write(path, trips(0, 4), "append", table | PARTITIONED | {"hoodie.populate.meta.fields": "false"})


def dropped_partition_column(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """The partition column is in the path alone."""
    drop = {"hoodie.datasource.write.drop.partition.columns": "true"}
    reference.write(path, trips(0, 4), "append", table | PARTITIONED | drop)


def clustered(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    reference.write(path, trips(0, 6), "append", table | PARTITIONED)
    reference.sql(f"CALL run_clustering(path => '{path}', order => 'price')")


def timestamp_partitions(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Folders by day of a column in milliseconds."""
    keys = {
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "millis",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
        "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
        "hoodie.keygen.timebased.timezone": "UTC",
    }
    rows = pa.table({"id": ["a", "b"], "millis": pa.array([1705311000000, 1705501200000], pa.int64())})
    reference.write(path, rows, "append", table | keys)


RECIPES = {
    "all_types_v9": Recipe(all_types),
    "all_types_v8": Recipe(all_types, 8),
    "sql_operations_v9": Recipe(sql_operations),
    "sql_operations_v8": Recipe(sql_operations, 8),
    "overwritten_table_v9": Recipe(overwritten_table),
    "cleaned_and_archived_v9": Recipe(cleaned_and_archived),
    "savepointed_v9": Recipe(savepointed),
    "restored_v9": Recipe(restored),
    "pending_write_v9": Recipe(pending_write),
    "pending_write_direct_v8": Recipe(pending_write_direct, 8),
    "rolled_back_v9": Recipe(rolled_back),
    "keyless_v9": Recipe(keyless),
    "complex_keys_v9": Recipe(complex_keys),
    "encoded_partitions_v9": Recipe(encoded_partitions),
    "added_column_v9": Recipe(added_column),
    "widened_column_v9": Recipe(widened_column),
    "clustered_v9": Recipe(clustered),
    "with_metadata_table_v9": Recipe(with_metadata_table),
    "merge_on_read_v9": Recipe(merge_on_read),
    "virtual_keys_v9": Recipe(virtual_keys),
    "dropped_partition_column_v9": Recipe(dropped_partition_column),
    "timestamp_partitions_v9": Recipe(timestamp_partitions),
    "all_types_v6": Recipe(all_types, 6),
    "sql_operations_v6": Recipe(sql_operations, 6),
    "cleaned_and_archived_v6": Recipe(cleaned_and_archived, 6),
    "rolled_back_v6": Recipe(rolled_back, 6),
    "merge_on_read_v6": Recipe(merge_on_read, 6),
    "change_data_v9": Recipe(cdc.cow),
    "merge_on_read_change_data_v9": Recipe(cdc.mor),
    "expired_v9": Recipe(life.expired),
    "merge_on_read_lagging_v6": Recipe(life.lagging, 6),
    "merge_on_read_pending_clustering_v6": Recipe(life.pending_clustering, 6),
    "merge_on_read_upgraded_v8": Recipe(partial(life.migrated, call="upgrade_table", to=8), 6),
    "merge_on_read_upgraded_v9": Recipe(partial(life.migrated, call="upgrade_table", to=9, hoodie__table__cdc__enabled="true"), 6),
    "merge_on_read_concurrent_v8": Recipe(partial(life.concurrent, compacts=False), 8),
    "merge_on_read_concurrent_v9": Recipe(partial(life.concurrent, hoodie__datasource__write__precombine__field="ts")),
    "merge_on_read_downgraded_v6": Recipe(partial(life.migrated, call="downgrade_table", to=6), 9),
}

# Each of these is made in every version that has it.
MERGE_ON_READ: dict[str, tuple[mor.Make, tuple[int, ...]]] = {
    "avro_blocks": (mor.operations, (6, 8, 9)),
    "parquet_blocks": (partial(mor.operations, hoodie__logfile__data__block__format="parquet"), (6, 8, 9)),
    "commit_time": (mor.commit_time, (6, 8, 9)),
    "revived": (mor.revived, (6, 8, 9)),
    "pending_compaction": (mor.pending_compaction, (6, 8, 9)),
    "compacted": (mor.compacted, (6, 8, 9)),
    "log_compacted": (mor.log_compacted, (6, 8, 9)),
    "null_ordering": (mor.null_ordering, (6, 8, 9)),
    "failed": (mor.failed_commit, (6, 8, 9)),
    "rolled_back": (mor.rolled_back, (6, 8, 9)),
    "partial_merge": (mor.partial_merge, (8, 9)),
    "partial_columns": (mor.partial_columns, (9,)),
    "full_before_partial": (mor.full_before_partial, (9,)),
    "full_after_partial": (mor.full_after_partial, (9,)),
    "added_column": (mor.added_column, (6, 9)),
    "widened_column": (mor.widened_column, (6, 9)),
    "change_log": (mor.change_log, (6, 8, 9)),
    "overwritten": (mor.overwritten, (6, 9)),
    "virtual_keys": (mor.virtual_keys, (6, 9)),
    "log_only_inmemory": (partial(mor.log_only, hoodie__index__type="INMEMORY"), (6, 9)),
    "log_only_bucket": (partial(mor.log_only, hoodie__index__type="BUCKET", hoodie__bucket__index__num__buckets="2"), (6, 8, 9)),
    "archived": (mor.archived, (6, 8, 9)),
    "several_ordering_fields": (rules.several_ordering_fields, (9,)),
    **{f"ordered_by_{kind}": (partial(rules.ordered_by, kind=kind), (6, 8, 9)) for kind in rules.ORDERING_VALUES},
    "overwrite_non_defaults": (partial(rules.payload, name="OverwriteNonDefaultsWithLatestAvroPayload"), (6, 8, 9)),
    "partial_update": (partial(rules.payload, name="PartialUpdateAvroPayload"), (6, 8, 9)),
    "aws_dms": (rules.database_migration, (6, 8, 9)),
    "mysql": (rules.mysql, (6, 8, 9)),
    "postgres": (rules.postgres, (6, 8, 9)),
    "delete_marker": (rules.delete_marker, (6, 8, 9)),
}
for kind, (make, versions) in MERGE_ON_READ.items():
    RECIPES |= {f"merge_on_read_{kind}_v{version}": Recipe(make, version) for version in versions}
RECIPES |= {f"merge_on_read_hfile_blocks_v{version}": Recipe(mor.hfile_blocks, version, mor.twin_of_hfile_blocks) for version in (6, 8, 9)}
PROMOTED = partial(Recipe, vectorized=False, folder="promoted")
RECIPES["promoted_v9"] = PROMOTED(promoted_types)
RECIPES |= {f"merge_on_read_promoted_v{version}": PROMOTED(promoted_types_in_logs, version) for version in (6, 9)}
