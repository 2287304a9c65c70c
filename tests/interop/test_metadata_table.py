"""Metadata tables that pyhudi builds and keeps in step: Apache Hudi reads by them, finds them right and continues with them."""

from __future__ import annotations

import dataclasses
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.hfile import HFileReader
from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.spec.files.log_block import BlockType
from pyhudi.storage.local_storage import LocalStorage
from tests.interop.failing import fail_commit
from tests.interop.kinds import KINDS, Kind, each_kind
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips
from tests.slow_cases import slow_cases
from tests.unit.metadata_table.test_sync import check_files, check_statistics

ON = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
CONDITIONS = ("amount = 5", "amount < 5", "price > 9", "id = 'trip-7'", "id = 'nothing'", "price IS NULL", "amount = 5 AND price < 8")
SERVED = [kind for kind in KINDS if kind.name in ("partitioned", "not_partitioned", "hive_style", "version_8", "two_keys_two_partitions")]


def write(path: Path, rows: pa.Table) -> None:
    HudiTable.open(path).upsert(rows)


def reference_writes(reference: ReferenceHudi, path: Path, kind: Kind, rows: pa.Table) -> None:
    with_table = dataclasses.replace(kind, options={**kind.options, **ON})
    with_table.reference_writes(reference, path, "upsert", rows)


def check(reference: ReferenceHudi, path: Path, name: str) -> None:
    """Both sides read the same rows, with and without the metadata table, and its content is right."""
    ours = HudiTable.open(path).to_arrow(meta_columns=True).sort_by("_hoodie_record_key").to_pylist()
    for enabled in ("true", "false"):
        theirs = reference.read(path, hoodie__metadata__enable=enabled, hoodie__enable__data__skipping="true")
        assert [row["_hoodie_record_key"] for row in theirs.sort_by("_hoodie_record_key").to_pylist()] == [
            row["_hoodie_record_key"] for row in ours
        ]
    rows = reference.sql(f"CALL validate_metadata_table_files(table => '{name}', verbose => true)", conf=ON).to_pylist()
    assert rows
    assert all(row["is_present_in_fs"] and row["is_present_in_metadata"] and row["fs_size"] == row["metadata_size"] for row in rows)
    check_files(LocalStorage(str(path)))


@each_kind(SERVED, long={"partitioned", "not_partitioned", "hive_style"})
def test_apache_hudi_reads_by_it_and_both_continue_with_it(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    path, name = tmp_path / "t", f"mdt_{kind.name}"
    table = kind.create(path)
    table.upsert(trips(0, 8))
    storage = LocalStorage(str(path))
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    check(reference, path, name)
    for turn in range(2):
        write(path, trips(4 * turn, 4 * turn + 8, amount=turn + 1))
        reference_writes(reference, path, kind, trips(20 + turn, 23 + turn, amount=turn + 1))
    check(reference, path, name)
    check_statistics(storage)


@pytest.mark.parametrize("version", slow_cases([9, 8, 6], [9]))
def test_records_are_those_of_apache_hudi_byte_for_byte(version: int, reference: ReferenceHudi, tmp_path: Path) -> None:
    """In tables of each version: hudi-rs reads no metadata table whose log files have records of two schemas."""
    options = ON | {"hoodie.metadata.index.column.stats.enable": "true"}
    kind = Kind("t", version=version, options=options)
    kind.reference_writes(reference, tmp_path, "upsert", trips(0, 5))
    encoder, count = RecordEncoder(version), 0
    for log in (tmp_path / ".hoodie/metadata").rglob(".*.log.[0-9]_*[0-9]"):
        data = log.read_bytes()
        for block in scan_blocks(io.BytesIO(data), log.name, len(data)):
            if block.type is BlockType.HFILE:
                content = read_content(io.BytesIO(data), block)
                assert block.header.schema_json == encoder.file_schema
                decoder = RecordDecoder(encoder.file_schema, log.name)
                values = [value for _, value in HFileReader(io.BytesIO(content), len(content)).entries()]
                assert [encoder.encode(decoder.decode(value)) for value in values] == values
                count += len(values)
    assert count > 20


def test_apache_hudi_filters_by_its_statistics(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind, path = KINDS[0], tmp_path / "t"
    kind.create(path).upsert(trips(0, 12))
    write(path, trips(6, 18, amount=5))
    reference.sql(f"CREATE TABLE mdt_filtered USING hudi LOCATION '{path}'")
    for condition in CONDITIONS:
        theirs = reference.sql(f"SELECT id FROM mdt_filtered WHERE {condition}", conf=ON)
        ours = HudiTable.open(path).to_arrow(columns=["id"], filter=condition)
        assert sorted(theirs.column("id").to_pylist()) == sorted(ours.column("id").to_pylist()), condition


def test_apache_hudi_reads_and_compacts_after_a_compaction_of_ours(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind, path = KINDS[0], tmp_path / "t"
    kind.create(path).upsert(trips(0, 8))
    storage = LocalStorage(str(path))
    for turn in range(9):
        write(path, trips(turn, turn + 4, amount=turn))
    names = [file.name for file in storage.list(".hoodie/metadata/.hoodie/timeline") if file.name.endswith(".commit")]
    assert len(names) == 1
    reference.sql(f"CREATE TABLE mdt_compacted USING hudi LOCATION '{path}'")
    check(reference, path, "mdt_compacted")
    reference_writes(reference, path, kind, trips(30, 33, amount=1))
    write(path, trips(31, 35, amount=2))
    check(reference, path, "mdt_compacted")


# Dies by the signal that no handler sees, when the metadata table knows the commit and the table does not have it yet.
KILLED_WRITER = """
import os, signal, sys
import pyhudi.txn.commit_sequence as commit_sequence
from pyhudi import HudiTable
from tests.interop.rows import trips
from tests.slow_cases import slow_cases

tell = commit_sequence.record_commit
commit_sequence.record_commit = lambda *args: (tell(*args), os.kill(os.getpid(), signal.SIGKILL))
HudiTable.open(sys.argv[1]).upsert(trips(2, 12, amount=9))
"""


def kill_a_write(path: Path) -> None:
    source = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source / "src"), str(source)])}
    ended = subprocess.run([sys.executable, "-c", KILLED_WRITER, str(path)], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize("version", [pytest.param(8, marks=pytest.mark.slow), 9])
def test_both_continue_with_that_of_a_merge_on_read_table_after_compaction_and_rollback(
    reference: ReferenceHudi, tmp_path: Path, version: int
) -> None:
    path, name = tmp_path / "t", f"mdt_merged_{version}"
    options = {"hoodie.compact.inline": "false", **ON}
    kind = Kind("merged", version=version, order_by=("amount",), table_type="MERGE_ON_READ")
    ours = kind.create(path)
    ours.insert(trips(0, 8))
    ours.upsert(trips(0, 4, amount=2), options)
    reference_writes(reference, path, dataclasses.replace(kind, options=options), trips(2, 6, amount=3))
    ours.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
    ours.upsert(trips(1, 3, amount=4), options)
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    check(reference, path, name)
    kill_a_write(path)
    reference_writes(reference, path, dataclasses.replace(kind, options=options), trips(3, 5, amount=5))
    check(reference, path, name)
    fail_commit(reference, path, trips(2, 9, amount=6), kind.reference_options("upsert") | options)
    ours.upsert(trips(4, 7, amount=7), options)
    check(reference, path, name)
    assert [row for row in ours.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


def test_apache_hudi_finds_rows_in_partitions_whose_bounds_footers_do_not_tell(reference: ReferenceHudi, tmp_path: Path) -> None:
    """NaN, texts beyond 4 KiB, files older than a column: other partitions' bounds must not rule these out."""
    columns = {"id": pa.string(), "city": pa.string(), "price": pa.float64(), "note": pa.string()}
    table = HudiTable.create(tmp_path / "t", pa.schema(columns), name="untold", keys=["id"], partition_by=["city"])
    table.insert(
        [
            {"id": "told", "city": "oslo", "price": 1.0, "note": "a"},
            {"id": "untold", "city": "lima", "price": float("nan"), "note": "z" * 5000},
        ]
    )
    table.upsert([{"id": "told", "city": "oslo", "price": 2.0, "note": "b", "extra": 7}])
    reference.sql(f"CREATE TABLE mdt_untold USING hudi LOCATION '{tmp_path / 't'}'")
    for condition, ids in {
        "price > 9": ["untold"],
        "note > 'y'": ["untold"],
        "price < 9": ["told"],
        "extra = 7": ["told"],
        "extra IS NULL": ["untold"],
    }.items():
        result = reference.sql(f"SELECT id FROM mdt_untold WHERE {condition}", conf=ON)
        assert result.column("id").to_pylist() == ids, condition
