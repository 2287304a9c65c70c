"""Buckets of consistent hashing are resized by either side, each runs what the other planned, and both keep writing: every row once, in its
bucket."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.actions.plan_codec import decode_requested_replace, encode_clustering_plan
from pyhudi.codec.avro.avro_container import decode_container
from pyhudi.errors import UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.consistent_hashing import load_hashing_metadata
from pyhudi.kernels.arrays.bucket_hash import bucket_indices, consistent_hashes
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.timeline.load_timeline import load_timeline
from tests.interop.reference import ReferenceHudi
from tests.interop.test_index_turns import SCHEMA, rows, values
from tests.interop.test_indexes import ON, reference_finds_what_we_find
from tests.unit.service import test_indexes as indexed

STRATEGY = "org.apache.hudi.client.clustering"
CONSISTENT_HASHING = {
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.num.buckets": "2",
}
SPLIT = {"hoodie.bucket.index.max.num.buckets": "8", "hoodie.parquet.max.file.size": "4000"}
MERGE = {"hoodie.bucket.index.min.num.buckets": "1", "hoodie.parquet.max.file.size": "200000000"}
#: What Apache Hudi must be told to resize buckets of consistent hashing, and to write while that is planned.
RESIZE = {
    "hoodie.clustering.plan.strategy.class": f"{STRATEGY}.plan.strategy.SparkConsistentBucketClusteringPlanStrategy",
    "hoodie.clustering.execution.strategy.class": f"{STRATEGY}.run.strategy.SparkConsistentBucketClusteringExecutionStrategy",
    "hoodie.clustering.updates.strategy": f"{STRATEGY}.update.strategy.SparkConsistentBucketDuplicateUpdateStrategy",
}
OWN = {"hoodie.compact.inline": "false"}


def options_for(version: str) -> dict[str, str]:
    return {
        "hoodie.table.name": "turns",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "p",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.compact.inline": "false",
        "hoodie.metadata.enable": "true",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        **CONSISTENT_HASHING,
        **RESIZE,
    }


def stated(options: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in options.items() if ".datasource." not in name)


def call(reference: ReferenceHudi, path: Path, op: str, options: Mapping[str, str]) -> pa.Table:
    return reference.sql(f"CALL run_clustering(path => '{path}', op => '{op}', options => '{stated(options)}')", conf=options)


def check(reference: ReferenceHudi, path: Path, expected: list[tuple[int, int]], buckets: int) -> None:
    """Both sides read these rows, each from the bucket of its key, with the metadata table in step with the files."""
    table = HudiTable.open(path)
    assert values(table.to_arrow()) == expected
    theirs = reference.read(path, hoodie__metadata__enable="true")
    assert values(theirs) == expected
    storage = LocalStorage(str(path))
    view = FileSystemView(storage, table.config, load_timeline(storage, table.config))
    for partition in ("x", "y"):
        hashing = load_hashing_metadata(view, partition)
        assert hashing is not None
        assert len(hashing.values) == buckets
        result = theirs.filter(pa.compute.field("p") == partition)
        names = [name.partition("_")[0] for name in result["_hoodie_file_name"].to_pylist()]
        keys = result["_hoodie_record_key"].combine_chunks().cast(pa.string())
        assert names == [hashing.file_ids[index] for index in bucket_indices(hashing.values, consistent_hashes(keys, ["id"])).tolist()]
    assert table.inspect.health().to_pylist() == []


VERSIONS = ["9", pytest.param("8", marks=pytest.mark.slow), pytest.param("6", marks=pytest.mark.slow)]


@pytest.mark.parametrize("version", VERSIONS)
def test_apache_hudi_runs_our_plan_and_writes_to_the_buckets_that_we_merge(reference: ReferenceHudi, tmp_path: Path, version: str) -> None:
    path, options = tmp_path / "ours", options_for(version)
    made = {"hoodie.write.table.version": version}
    table = HudiTable.create(
        path, SCHEMA, name="turns", keys=["id"], partition_by=["p"], order_by=["ts"], table_type="MERGE_ON_READ", options=made
    )
    table.upsert(rows(0, 3000, 1), {**CONSISTENT_HASHING, **OWN})
    table.upsert(rows(10, 30, 2), OWN)
    assert table.services.cluster(mode="schedule", options=SPLIT)[0].splits == 4
    reference.write(path, rows(20, 40, 3), options=options)  # to the planned buckets, and to those that take their place
    call(reference, path, "execute", options)
    expected = [(n, 3 if 20 <= n < 40 else 2 if 10 <= n < 20 else 1) for n in range(3000)]
    check(reference, path, expected, 4)
    table = HudiTable.open(path)
    table.upsert(rows(2995, 3005, 4), OWN)
    assert table.services.cluster(options=MERGE)[0].merged == 8
    reference.write(path, rows(3003, 3010, 5), options=options)
    check(reference, path, [*expected[:2995], *((n, 4 if n < 3003 else 5) for n in range(2995, 3010))], 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_we_run_the_plan_of_apache_hudi_and_it_resizes_what_we_wrote(reference: ReferenceHudi, tmp_path: Path, version: str) -> None:
    path, options = tmp_path / "theirs", options_for(version)
    reference.write(path, rows(0, 3000, 1), mode="overwrite", options={**options, **SPLIT})
    call(reference, path, "schedule", {**options, **SPLIT})
    (request,) = (file for file in (path / ".hoodie").rglob("[0-9]*.requested") if "clustering" in file.name or "replace" in file.name)
    plan = decode_requested_replace(request.read_bytes()).plan
    assert plan is not None
    assert encode_clustering_plan(plan, sync=decode_container(request.read_bytes()).sync) == request.read_bytes()
    reference.write(path, rows(10, 20, 2), options={**options, **SPLIT})
    with pytest.raises(UnsupportedError, match=r"is pending; this release cannot write then.*services\.cluster"):
        HudiTable.open(path).upsert(rows(10, 20, 3), OWN)
    (done,) = HudiTable.open(path).services.cluster(mode="execute")
    assert (done.splits, done.rows) == (4, 3000)
    expected = [(n, 2 if 10 <= n < 20 else 1) for n in range(3000)]
    check(reference, path, expected, 4)
    HudiTable.open(path).upsert(rows(15, 25, 4), OWN)
    inline = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"}
    reference.write(path, rows(22, 30, 5), options={**options, **MERGE, **inline})
    HudiTable.open(path).upsert(rows(28, 31, 6), OWN)
    turns = [(10, 1), (15, 2), (22, 4), (28, 5), (31, 6), (3000, 1)]
    check(reference, path, [(n, next(turn for end, turn in turns if n < end)) for n in range(3000)], 1)


@pytest.mark.slow
def test_apache_hudi_finds_rows_by_indexes_that_followed_a_resizing(reference: ReferenceHudi, tmp_path: Path) -> None:
    path, name = tmp_path / "indexed", "resized_and_indexed"
    table = HudiTable.create(
        path, indexed.SCHEMA, name="t", keys=["id"], partition_by=["city"], order_by=["ts"], table_type="MERGE_ON_READ"
    )
    table.upsert(indexed.rows(0, 60), {**CONSISTENT_HASHING, **OWN})
    table.services.index("record_index")
    table.services.index("by_name", "name")
    table.services.index("low", "name", using="column_stats", options={"expr": "lower"})
    table.services.index("day", "ts", using="column_stats", options={"expr": "from_unixtime", "format": "yyyy-MM-dd"})
    table.upsert(indexed.rows(50, 70), OWN)
    assert table.services.cluster(options={**SPLIT, "hoodie.parquet.max.file.size": "1"})[0].splits > 1
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    reference_finds_what_we_find(reference, path, name)
    result = reference.sql(f"CALL validate_metadata_table_files(table => '{name}', verbose => true)", conf=ON).to_pylist()
    assert all(row["is_present_in_fs"] and row["is_present_in_metadata"] and row["fs_size"] == row["metadata_size"] for row in result)
    assert table.inspect.health().to_pylist() == []
