"""Each side continues what the other wrote, for every kind of table, whoever made the table."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.interop.kinds import KINDS, Kind, Model, assert_both_read, each_kind
from tests.interop.reference import ReferenceHudi, why_no_reference
from tests.interop.rows import trips

KIND = each_kind(KINDS, long={kind.name for kind in KINDS} - {"event_time", "version_8", "version_6", "two_keys_two_partitions"})


@KIND
def test_tables_made_by_pyhudi_are_continued_by_both_sides(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(kind.order_by)
    table = kind.create(tmp_path / "t")
    table.insert(model.upsert(trips(0, 8)))
    assert_both_read(reference, tmp_path / "t", model.sorted())
    take_turns(kind, reference, tmp_path / "t", model)


@KIND
def test_tables_made_by_apache_hudi_are_continued_by_both_sides(kind: Kind, reference: ReferenceHudi, tmp_path: Path) -> None:
    if kind.version == 8 and "keygenerator" in str(kind.options):
        pytest.skip("Apache Hudi refuses it")
    model = Model(kind.order_by)
    kind.reference_writes(reference, tmp_path / "t", "upsert", model.upsert(trips(0, 8)))
    assert_both_read(reference, tmp_path / "t", model.sorted())
    take_turns(kind, reference, tmp_path / "t", model)


def take_turns(kind: Kind, reference: ReferenceHudi, path: Path, model: Model) -> None:
    """Upsert, delete and insert by each side on what the other left."""
    kind.reference_writes(reference, path, "upsert", model.upsert(trips(5, 10, amount=2)))
    # Trips 5 to 7 come late where `amount` is the ordering field.
    HudiTable.open(path).upsert(model.upsert(trips(3, 8, amount=1)))
    assert_both_read(reference, path, model.sorted())

    kind.reference_writes(reference, path, "delete", model.delete(trips(3, 5, amount=3)))
    HudiTable.open(path).delete(model.delete(trips(8, 9, amount=3)))
    assert_both_read(reference, path, model.sorted())

    kind.reference_writes(reference, path, "insert", model.upsert(trips(10, 13)))
    HudiTable.open(path).insert(model.upsert(trips(13, 16)))
    kind.reference_writes(reference, path, "upsert", model.upsert(trips(14, 15, amount=4)))
    assert_both_read(reference, path, model.sorted())


@pytest.mark.slow
def test_both_sides_write_in_local_time_where_it_is_not_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a reference implementation of its own: a JVM that wrote in one zone would wait for hours until it is as late in another."""
    if problem := why_no_reference():
        pytest.skip(problem)
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        kind = Kind("local", options={"hoodie.table.timeline.timezone": "LOCAL"})
        with ReferenceHudi(tmp_path / "reference") as reference:
            for maker in ("pyhudi", "reference"):
                model = Model()
                path = tmp_path / maker
                if maker == "pyhudi":
                    kind.create(path).insert(model.upsert(trips(0, 8)))
                else:
                    kind.reference_writes(reference, path, "upsert", model.upsert(trips(0, 8)))
                take_turns(kind, reference, path, model)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_tables_without_key_are_continued_by_both_sides(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind = Kind("keyless", keys=())
    kind.create(tmp_path / "t").insert(trips(0, 4))
    kind.reference_writes(reference, tmp_path / "t", "insert", trips(4, 6))
    HudiTable.open(tmp_path / "t").insert(trips(6, 8))
    assert_both_read(reference, tmp_path / "t", trips(0, 8).sort_by("id").to_pylist())
    keys = HudiTable.open(tmp_path / "t").to_arrow(meta_columns=True)["_hoodie_record_key"].to_pylist()
    assert len(set(keys)) == 8


@pytest.mark.parametrize("maker", ["pyhudi", "Apache Hudi"])
def test_unusual_partition_values_mean_the_same_to_both(maker: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    kind = Kind(
        "encoded",
        options={
            "hoodie.datasource.write.hive_style_partitioning": "true",
            "hoodie.datasource.write.partitionpath.urlencode": "true",
        },
    )
    cities = ["x/y", "a b", "é:=%", None, "#?[]{}^'\"*\\", "2026-01-02", "01"]
    rows = trips(0, len(cities)).set_column(1, "city", pa.array(cities, pa.string()))
    if maker == "pyhudi":
        kind.create(tmp_path / "t").insert(rows)
    else:
        kind.reference_writes(reference, tmp_path / "t", "upsert", rows)
    changed = rows.set_column(2, "amount", pa.array([5] * len(cities), pa.int64()))
    kind.reference_writes(reference, tmp_path / "t", "upsert", changed.slice(0, 4))
    HudiTable.open(tmp_path / "t").upsert(changed.slice(4))
    assert_both_read(reference, tmp_path / "t", changed.sort_by("id").to_pylist())
