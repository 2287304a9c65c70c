"""Merge-on-read tables that pyhudi writes: Apache Hudi reads every kind of block, and continues them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi import HudiTable
from pyhudi.spec.actions.commit import Operation
from pyhudi.table.write_table import write
from tests.interop.kinds import Kind, Model, assert_both_read, each_kind
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, every_type, trips

EVENT_TIME = Kind("mor", order_by=("amount",), table_type="MERGE_ON_READ")
KINDS = (
    EVENT_TIME,
    Kind("mor_8", order_by=("amount",), table_type="MERGE_ON_READ", version=8),
    Kind("mor_6", order_by=("amount",), table_type="MERGE_ON_READ", version=6),
    Kind("mor_commit_time", table_type="MERGE_ON_READ", partition_by=()),
    Kind("mor_two_ordering_fields", order_by=("amount", "price"), table_type="MERGE_ON_READ"),
)
KIND = each_kind(KINDS, long={"mor_8", "mor_commit_time", "mor_two_ordering_fields"})
BLOCKS = pytest.mark.parametrize("blocks", ["avro", "parquet"])
#: Ordering columns by what a delete block calls their type, each with an early, a middle and a late value.
ORDERINGS = {
    "int": (pa.int32(), [1, 2, 3]),
    "long": (pa.int64(), [1, 2, 3]),
    "double": (pa.float64(), [1.5, 2.5, 3.5]),
    "float": (pa.float32(), [1.5, 2.5, 3.5]),
    "string": (pa.string(), ["a", "b", "c"]),
    "date": (pa.date32(), [dt.date(2026, 1, day) for day in (1, 2, 3)]),
    "timestamp": (pa.timestamp("us", "UTC"), [dt.datetime(2026, 1, day, tzinfo=dt.UTC) for day in (1, 2, 3)]),
    "decimal": (pa.decimal128(10, 2), [Decimal("1.5"), Decimal("2.5"), Decimal("3.5")]),
}


def options(blocks: str) -> dict[str, str]:
    return {"hoodie.logfile.data.block.format": blocks}


@KIND
@BLOCKS
def test_tables_made_by_pyhudi_are_continued_by_both_sides(kind: Kind, blocks: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    model, path = Model(kind.order_by), tmp_path / "t"
    kind.create(path).insert(model.upsert(trips(0, 8)))
    HudiTable.open(path).upsert(model.upsert(trips(3, 7, amount=5)), options(blocks))
    # Trips 3 to 6 come late where `amount` is the ordering field.
    HudiTable.open(path).upsert(model.upsert(trips(2, 10, amount=2)), options(blocks))
    assert_both_read(reference, path, model.sorted())

    HudiTable.open(path).delete(model.delete(trips(6, 9)), options=options(blocks))
    kind.reference_writes(reference, path, "upsert", model.upsert(trips(4, 12, amount=6)))
    HudiTable.open(path).upsert(model.upsert(trips(0, 2, amount=7)), options(blocks))
    assert_both_read(reference, path, model.sorted())

    kind.reference_writes(reference, path, "delete", model.delete(trips(0, 3)))
    HudiTable.open(path).upsert(model.upsert(trips(9, 14, amount=8)), options(blocks))
    assert_both_read(reference, path, model.sorted())


@pytest.mark.parametrize("name", ORDERINGS)
@pytest.mark.parametrize("version", [6, 8, 9])
def test_deletes_marked_in_the_data_win_by_their_ordering_value_of_any_type(
    name: str, version: int, reference: ReferenceHudi, tmp_path: Path
) -> None:
    kind, values = ORDERINGS[name]
    early, middle, late = pa.array(values, kind)
    schema = pa.schema([("id", pa.int64()), ("at", kind), ("_hoodie_is_deleted", pa.bool_())])

    def rows(*result: tuple[int, pa.Scalar, bool]) -> pa.Table:
        columns = zip(*[(id_, at.as_py(), deleted) for id_, at, deleted in result], strict=True)
        return pa.table([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)

    table = HudiTable.create(
        tmp_path, schema, name="t", keys=["id"], order_by=["at"], table_type="mor", options={"hoodie.write.table.version": str(version)}
    )
    table.insert(rows(*((n, middle, False) for n in range(4))))
    table.upsert(rows((0, early, True), (1, middle, True), (2, late, True)))
    table.upsert(rows((2, middle, False), (1, late, False)))
    assert sorted(reference.read(tmp_path)["id"].to_pylist()) == [0, 1, 3]
    assert sorted(table.to_arrow()["id"].to_pylist()) == [0, 1, 3]


@BLOCKS
@pytest.mark.parametrize("version", [8, 9])
def test_partial_updates_keep_the_columns_they_do_not_bring(blocks: str, version: int, reference: ReferenceHudi, tmp_path: Path) -> None:
    model, kind = Model(("amount",)), Kind("partial", order_by=("amount",), table_type="MERGE_ON_READ", version=version)
    table = kind.create(tmp_path)
    table.insert(model.upsert(trips(0, 8, amount=1)))
    read = table.to_arrow(filter="id in ('trip-1', 'trip-2')", meta_columns=True)
    changed = read.drop_columns(["price"]).set_column(read.schema.get_field_index("amount"), "amount", pa.array([5, 5]))
    write(table, Operation.UPSERT_PREPPED, changed, options=options(blocks), prepped=True, columns=("id", "city", "amount"))
    model.upsert(pa.concat_tables([trips(1, 3, amount=5)]))
    assert_both_read(reference, tmp_path, model.sorted())
    kind.reference_writes(reference, tmp_path, "upsert", model.upsert(trips(2, 4, amount=6)))
    assert_both_read(reference, tmp_path, model.sorted())


@BLOCKS
def test_rows_of_every_type_are_read_from_log_files(blocks: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    rows = every_type()
    table = HudiTable.create(tmp_path, rows.schema, name="types", keys=["id"], partition_by=["part"], table_type="mor")
    table.insert(rows.set_column(rows.schema.get_field_index("string"), "string", pa.array(["old"] * 3)))
    table.upsert(rows, options(blocks))
    assert pc.unique(table.to_arrow(columns=["_hoodie_commit_time"])["_hoodie_commit_time"]).to_pylist() == [
        table.history()["requested"][-1].as_py()
    ]
    assert data(reference.read(tmp_path)) == data(table.to_arrow())


@BLOCKS
def test_log_files_of_several_blocks_and_several_files_are_read(blocks: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model()
    table = Kind("rolled", partition_by=(), table_type="MERGE_ON_READ").create(tmp_path)
    table.insert(model.upsert(trips(0, 400)))
    sizes = {"hoodie.logfile.data.block.max.size": "4000", "hoodie.logfile.max.size": "9000", **options(blocks)}
    table.upsert(model.upsert(trips(0, 300, amount=3)), sizes)
    logs = sorted(path.name.split(".log.")[1] for path in tmp_path.glob(".*.log.*"))
    assert len([name for name in logs if not name.endswith(".crc")]) > 2
    assert_both_read(reference, tmp_path, model.sorted())


def test_delete_of_keys_and_reinsert_are_read_in_their_order(reference: ReferenceHudi, tmp_path: Path) -> None:
    model = Model(("amount",))
    table = EVENT_TIME.create(tmp_path)
    table.insert(model.upsert(trips(0, 6, amount=5)))
    table.delete(model.delete(trips(0, 4)))
    table.upsert(model.upsert(trips(2, 6, amount=7)))
    assert_both_read(reference, tmp_path, model.sorted())


@BLOCKS
@pytest.mark.parametrize("version", [8, 9])
def test_apache_hudi_reads_by_position_and_compacts(blocks: str, version: int, reference: ReferenceHudi, tmp_path: Path) -> None:
    model, kind = Model(("amount",)), Kind("compacted", order_by=("amount",), table_type="MERGE_ON_READ", version=version)
    table = kind.create(tmp_path)
    table.insert(model.upsert(trips(0, 30)))
    table.upsert(model.upsert(trips(5, 25, amount=4)), options(blocks))
    table.delete(model.delete(trips(10, 12)), options=options(blocks))
    table.upsert(model.upsert(trips(20, 30, amount=2)), options(blocks))
    assert data(reference.read(tmp_path, hoodie__merge__use__record__positions="true")) == model.sorted()
    compacting = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    reference.write(tmp_path, model.upsert(trips(28, 33, amount=9)), "append", kind.reference_options("upsert") | compacting)
    assert table.history()["action"].to_pylist()[-1] == "commit"
    assert_both_read(reference, tmp_path, model.sorted())
    assert sorted(row["id"] for row in table.to_arrow(mode="read_optimized").to_pylist()) == sorted(model.rows)
