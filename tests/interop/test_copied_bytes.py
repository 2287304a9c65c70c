"""Base files whose row groups were copied as bytes: Apache Hudi (which reads by the page index), hudi-rs and DuckDB read the same rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hudi import HudiTableBuilder

from pyhudi import HudiTable
from pyhudi.kernels.base_file import stored_groups
from tests.interop.reference import ReferenceHudi

ROWS = 60_000
OPTIONS = {"hoodie.parquet.block.size": "400000"}
STREAM_COPY = {
    "hoodie.clustering.plan.strategy.class": "org.apache.hudi.client.clustering.plan.strategy.SparkStreamCopyClusteringPlanStrategy"
}


def rows_of(ids: list[int], version: int) -> pa.Table:
    values = {
        "id": [f"{number:06}" for number in ids],
        "v": [None if number % 7 == 0 else f"{number % 100} of {version}" for number in ids],
        "n": [number + version * 1_000_000 for number in ids],
        "tags": [[number % 3] * (number % 2) for number in ids],
    }
    schema = pa.schema({"id": pa.string(), "v": pa.string(), "n": pa.int64(), "tags": pa.list_(pa.int32())})
    return pa.table(values, schema=schema)


def newest_file(path: Path) -> Path:
    return max(path.glob("*.parquet"), key=lambda file: file.name.rsplit("_", 1)[1])


def test_a_file_of_copied_row_groups_is_read_and_rewritten_by_apache_hudi(
    tmp_path: Path, reference: ReferenceHudi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_groups, "COPIED_FILE_BYTES", 0)
    path = tmp_path / "t"
    first = rows_of([*range(ROWS)], 0)
    table = HudiTable.create(path, first.schema, name="t", keys=["id"])
    table.upsert(first, options=OPTIONS)
    before = newest_file(path).read_bytes()
    table.upsert(rows_of([7, ROWS + 1], 1), options=OPTIONS)
    table.delete(where="id = '000011'", options=OPTIONS)
    file = newest_file(path)
    keys = pq.read_metadata(file).row_group(3).column(2)
    assert file.read_bytes()[keys.data_page_offset :][: keys.total_compressed_size] in before
    expected = table.to_arrow(columns=["id", "v", "n", "tags"]).sort_by("id")
    assert expected.num_rows == ROWS
    assert reference.read(path).select(expected.schema.names).sort_by("id").to_pylist() == expected.to_pylist()
    reference.sql(f"CREATE TABLE copied USING hudi LOCATION '{path}'")
    selected = reference.sql("SELECT id, n FROM copied WHERE n IN (1000007, 30000, 59999, 1060001) ORDER BY n")
    assert selected.column("n").to_pylist() == [30_000, 59_999, 1_000_007, 1_060_001]
    by_file = duckdb.sql(f"SELECT count(*), sum(n), count(v), min(_hoodie_file_name), max(_hoodie_file_name) FROM '{file}'").fetchone()
    present = expected.column("v").drop_null()
    assert by_file == (ROWS, sum(expected.column("n").to_pylist()), len(present), file.name, file.name)
    reference.write(path, rows_of([5, 50_000], 2), options={"hoodie.datasource.write.operation": "upsert"})
    assert table.to_arrow(columns=["n"], filter="id IN ('000005', '000007', '050000')")["n"].to_pylist() == [
        2_000_005,
        1_000_007,
        2_050_000,
    ]


@pytest.mark.parametrize("writer", ["pyhudi", "apache_hudi"])
def test_files_joined_by_stream_copy_are_read_and_rewritten_by_apache_hudi(writer: str, tmp_path: Path, reference: ReferenceHudi) -> None:
    path = tmp_path / "t"
    parts = [rows_of([*range(first, first + 400)], 0).drop_columns("tags") for first in range(0, 1_200, 400)]
    small = {"hoodie.parquet.small.file.limit": "0", "hoodie.clean.automatic": "false"}
    if writer == "pyhudi":
        HudiTable.create(path, parts[0].schema, name="t", keys=["id"])
    for number, part in enumerate(parts):
        if writer == "pyhudi":
            HudiTable.open(path).bulk_insert(part, options=small)
        else:
            options = small | {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}
            bulk = {"hoodie.datasource.write.operation": "bulk_insert", "hoodie.bulkinsert.shuffle.parallelism": "1"}
            reference.write(path, part, options=options | bulk, mode="append" if number else "overwrite")
    table = HudiTable.open(path)
    (done,) = table.services.cluster(options=STREAM_COPY)
    assert (done.rows, done.files_written) == (1_200, 1)
    file = newest_file(path)
    assert pq.read_metadata(file).num_row_groups == len(parts)
    expected = table.to_arrow(columns=["id", "v", "n"]).sort_by("id").to_pylist()
    assert len(expected) == 1_200
    assert reference.read(path).select(["id", "v", "n"]).sort_by("id").to_pylist() == expected
    by_rust = pa.Table.from_batches(HudiTableBuilder.from_base_uri(str(path)).build().read())
    assert by_rust.select(["id", "v", "n"]).sort_by("id").to_pylist() == expected
    assert duckdb.sql(f"SELECT count(*), min(_hoodie_file_name), max(_hoodie_file_name) FROM '{file}'").fetchone() == (
        1_200,
        *[file.name] * 2,
    )
    reference.write(path, rows_of([5, 1_199], 2).drop_columns("tags"), options={"hoodie.datasource.write.operation": "upsert"})
    changed = HudiTable.open(path).to_arrow(columns=["n"], filter="id IN ('000005', '000006', '001199')")
    assert sorted(changed["n"].to_pylist()) == [6, 2_000_005, 2_001_199]
