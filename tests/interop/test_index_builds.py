"""Builds of indexes concurrently with writers, in turns with Apache Hudi: each continues during a build that the other has not finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.spec.table.table_keys import METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT
from pyhudi.storage.table_properties import store_properties
from pyhudi.timeline.clock import SystemClock
from tests.interop.reference import ReferenceHudi
from tests.interop.test_indexes import ON, reference_upserts
from tests.unit.service.test_index_builds import NAME, first, killed, second
from tests.unit.service.test_indexes import SCHEMA, check, config_of, rows

CONDITIONS = ("name = 'N$51'", "name IN ('N$3', 'N$4')", "id IN ('k001', 'k004', 'k040')")


def new_table(path: Path, kind: str) -> HudiTable:
    table = HudiTable.create(str(path), SCHEMA, name="t", keys=("id",), partition_by=("city",), order_by=("ts",), table_type=kind)
    table.insert(rows(0, 20))
    return table


def reference_agrees(reference: ReferenceHudi, table: HudiTable, name: str) -> None:
    reference.sql(f"REFRESH TABLE {name}")
    for condition in CONDITIONS:
        theirs = reference.sql(f"SELECT id FROM {name} WHERE {condition}", conf=ON)["id"].to_pylist()
        assert sorted(theirs) == sorted(table.to_arrow(columns=["id"], filter=condition)["id"].to_pylist()), condition


def unfinished(table: HudiTable) -> Path:
    """Take the last step of Apache Hudi's last build back, as if it had died before; return where its completed file is now."""
    [*_, done] = sorted((Path(table.storage.uri.removeprefix("file://")) / ".hoodie/timeline").glob("*_*.indexing"))
    config = config_of(table)
    retained = ",".join(name for name in config.metadata_partitions if name != NAME)
    store_properties(table.storage, {METADATA_PARTITIONS: retained, METADATA_PARTITIONS_INFLIGHT: NAME}, SystemClock().now())
    return done.rename(done.parents[2] / "completed")


@pytest.mark.parametrize(
    ("kind", "asynchronous"),
    [
        ("COPY_ON_WRITE", "true"),
        pytest.param("COPY_ON_WRITE", "false", marks=pytest.mark.slow),
        pytest.param("MERGE_ON_READ", "false", marks=pytest.mark.slow),
    ],
)
def test_apache_hudi_writes_beside_our_build_and_we_finish_it(
    reference: ReferenceHudi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, asynchronous: str
) -> None:
    """Without its option for asynchronous indexes Apache Hudi builds those that are missing by itself.

    With it all others must be there: partition statistics, which merge-on-read tables of ours do not have, too.
    """
    path, name = tmp_path / "t", f"building_{kind.lower()}_{asynchronous}"
    table, options = new_table(path, kind), {"hoodie.metadata.index.async": asynchronous}
    killed(monkeypatch, table, "by_name", "name")
    reference_upserts(reference, path, rows(18, 26, ts=51), kind, **options)
    first(table)
    reference_upserts(reference, path, rows(2, 4, ts=52), kind, "delete", **options)
    table.services.index(mode="execute")
    check(table)
    assert table.inspect.health().to_pylist() == []
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    reference_agrees(reference, table, name)
    reference_upserts(reference, path, rows(24, 30, ts=54), kind)
    reference_agrees(reference, HudiTable.open(path), name)
    check(HudiTable.open(path))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", pytest.param("MERGE_ON_READ", marks=pytest.mark.slow)])
def test_we_write_beside_a_build_of_apache_hudi(reference: ReferenceHudi, tmp_path: Path, kind: str) -> None:
    path, name = tmp_path / "t", f"built_{kind.lower()}"
    table = new_table(path, kind)
    table.services.index("record_index", "id")
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    reference.sql(f"CREATE INDEX by_name ON {name} (name)", conf=ON)
    completed = unfinished(table)
    for write in (first, second):
        write(table)
        assert config_of(table).metadata_partitions_inflight == (NAME,)
    assert [row["check"] for row in table.inspect.health().to_pylist()] == ["nothing pending"]
    names = (*config_of(table).metadata_partitions, NAME)
    store_properties(table.storage, {METADATA_PARTITIONS: ",".join(names), METADATA_PARTITIONS_INFLIGHT: ""}, SystemClock().now())
    completed.rename(path / ".hoodie/timeline" / completed_name(path))
    table = HudiTable.open(path)
    check(table)
    reference_agrees(reference, table, name)
    reference_upserts(reference, path, rows(24, 30, ts=54), kind)
    check(HudiTable.open(path))


def completed_name(path: Path) -> str:
    [*_, begun] = sorted((path / ".hoodie/timeline").glob("*.indexing.inflight"))
    time = begun.name.split(".")[0]
    return f"{time}_{int(time) + 1}.indexing"
