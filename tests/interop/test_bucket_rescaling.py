"""Numbers of buckets are changed by either side, and both keep writing: every row once, in its bucket."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.kernels.arrays.bucket_hash import list_hashes
from tests.interop.reference import ReferenceHudi
from tests.interop.test_index_turns import SCHEMA, rows, values

BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
OWN = {"hoodie.compact.inline": "false"}
EXPRESSIONS = "hoodie.bucket.index.partition.expressions"


def options_for(table_type: str, version: str) -> dict[str, str]:
    return {
        "hoodie.table.name": "turns",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "p",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.table.type": table_type,
        "hoodie.compact.inline": "false",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        "hoodie.upsert.shuffle.parallelism": "1",
        "hoodie.metadata.enable": "true",
        **BUCKET,
    }


def check(reference: ReferenceHudi, path: Path, expected: list[tuple[int, int]], numbers: dict[str, int]) -> None:
    """Both sides read these rows, each from the bucket of its key."""
    table = HudiTable.open(path)
    assert values(table.to_arrow()) == expected
    theirs = reference.read(path, hoodie__metadata__enable="true")
    assert values(theirs) == expected
    for partition, count in numbers.items():
        result = theirs.filter(pa.compute.field("p") == partition)
        keys = result["_hoodie_record_key"].combine_chunks().cast(pa.string())
        assert [int(name[:8]) for name in result["_hoodie_file_name"].to_pylist()] == (list_hashes(keys, ["id"]) % count).tolist()
        assert len({name.partition("_")[0] for name in result["_hoodie_file_name"].to_pylist()}) == count
    assert table.inspect.health().to_pylist() == []


KINDS = [
    ("COPY_ON_WRITE", "9"),
    *(pytest.param(kind, version, marks=pytest.mark.slow) for kind, version in (("MERGE_ON_READ", "9"), ("COPY_ON_WRITE", "6"))),
]


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_apache_hudi_writes_to_the_buckets_that_we_make(reference: ReferenceHudi, tmp_path: Path, table_type: str, version: str) -> None:
    path, options = tmp_path / "ours", options_for(table_type, version)
    reference.write(path, rows(0, 100, 1), mode="overwrite", options=options)
    done = HudiTable.open(path).services.rescale_buckets("^x,7;^z,2", default=4)
    assert [(one.path, one.before, one.after) for one in done.partitions] == [("x", 4, 7)]
    reference.write(path, rows(50, 120, 2), options={**options, EXPRESSIONS: done.expressions})
    HudiTable.open(path).upsert(rows(110, 130, 3), OWN)
    expected = [(n, 1 if n < 50 else 2 if n < 110 else 3) for n in range(130)]
    check(reference, path, expected, {"x": 7, "y": 4})


def test_we_write_to_the_buckets_that_apache_hudi_makes(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, options = tmp_path / "theirs", options_for("COPY_ON_WRITE", "9")
    HudiTable.create(path, SCHEMA, name="turns", keys=["id"], partition_by=["p"], order_by=["ts"]).upsert(
        rows(0, 100, 1), {**BUCKET, **OWN}
    )
    reference.sql(f"CREATE TABLE IF NOT EXISTS rescaled USING hudi LOCATION '{path}'", conf=options)
    call = "CALL partition_bucket_index_manager(table => 'rescaled', {})"
    reference.sql(call.format("overwrite => '^x,7', bucket_number => 4, dry_run => false"), conf=options)
    HudiTable.open(path).upsert(rows(50, 120, 2), OWN)
    expected = [(n, 1 if n < 50 else 2) for n in range(120)]
    check(reference, path, expected, {"x": 7, "y": 4})
    listed = reference.sql(call.format("show_config => true")).to_pylist()[0]["details"]
    (instant,) = HudiTable.open(path).services.bucket_rules()
    assert listed == (
        f"PartitionBucketIndexHashingConfig(expressions=^x,7, defaultBucketNumber=4, rule=regex, version=1, instant={instant})"
    )
