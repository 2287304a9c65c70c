"""Bounds of columns of every type in the metadata table, held against what Apache Hudi 1.2.0 states of the same rows.

Recorded by `tests/interop/test_bounds_of_types.py`. Apache Hudi cannot unite bounds of one column that are in different wrappers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.codec.hfile import CellPart
from pyhudi.metadata_table.format.column_bound import encode_bound
from pyhudi.metadata_table.format.column_types import BoundType, bound_types, index_version_of, value_type
from pyhudi.metadata_table.format.index_definitions import PATH, load_definitions, render_definitions
from pyhudi.metadata_table.format.record import ColumnStats, RecordType, ValueType
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.indexes.file_stats import partition_stats
from pyhudi.metadata_table.read.raw_cells import StoredCells
from pyhudi.metadata_table.read.typed_bounds import read_bounds
from tests.stated_bounds import INDEXES, NOW, recorded_bounds, rows_of_every_type, stated_bounds
from tests.unit.metadata_table.tables import open_metadata

ROWS = rows_of_every_type()
APART = {"hoodie.compact.inline": "false", **INDEXES}


def created(path: Path, version: int, table_type: str) -> HudiTable:
    options = {"hoodie.write.table.version": str(version)}
    table = HudiTable.create(path, ROWS.schema, name="t", keys=["id"], partition_by=["part"], table_type=table_type, options=options)
    table.insert(ROWS, APART)
    return table


@pytest.mark.parametrize("version", [6, 8, 9])
def test_bounds_of_base_files_and_partitions_are_those_of_apache_hudi(tmp_path: Path, version: int) -> None:
    created(tmp_path / "t", version, "COPY_ON_WRITE").upsert(ROWS, APART)
    recorded = recorded_bounds(version)
    assert recorded.pop("log")
    assert stated_bounds(tmp_path / "t") == recorded


@pytest.mark.parametrize("version", [6, 8, 9])
def test_bounds_after_logs_and_a_compaction_are_those_of_apache_hudi(tmp_path: Path, version: int) -> None:
    table = created(tmp_path / "t", version, "MERGE_ON_READ")
    table.upsert(ROWS, APART)
    recorded = recorded_bounds(version)
    log = recorded.pop("log")
    table.services.compact(options=NOW)
    assert stated_bounds(tmp_path / "t") == {"base": recorded["base"]}
    assert wrappers(log) == wrappers(recorded["base"])


@pytest.mark.parametrize("version", [8, 9])
def test_bounds_of_a_partition_that_nothing_is_known_of_are_in_the_same_wrappers(version: int) -> None:
    recorded = wrappers(recorded_bounds(version)["partition"])
    types = bound_types(ROWS.schema, tuple(recorded), index_version_of(version))
    for stats in partition_stats("p", [{}], types):
        for bound in (stats.minimum, stats.maximum):
            wrapped = encode_bound(bound, stats.value_type, stats.type_info, with_type=version == 9)
            assert wrapped is not None
            assert {wrapped[0].rpartition(".")[2]} == {wrapper for wrapper, _ in recorded[stats.column]}, stats.column


def wrappers(columns: dict[str, list[str]]) -> dict[str, set[tuple[str, str]]]:
    return {
        column: {(text.partition("(")[0], text.rpartition(" ")[2]) for text in strings if not text.startswith("None")}
        for column, strings in columns.items()
    }


@pytest.mark.parametrize(
    ("precision", "scale", "is_indexed"),
    [(5, 0, True), (15, 0, True), (16, 0, False), (30, 15, True), (29, 14, True), (31, 15, False), (18, 18, False), (16, 1, True)],
)
def test_indexes_of_v1_have_the_decimals_that_their_wrapper_holds(precision: int, scale: int, is_indexed: bool) -> None:
    """Which ones they are was seen with Apache Hudi 1.2.0."""
    assert (value_type(pa.decimal128(precision, scale), 1) is ValueType.DECIMAL) == is_indexed
    assert value_type(pa.decimal128(precision, scale), 2) is ValueType.DECIMAL


def test_an_index_keeps_its_version_when_its_table_is_upgraded(tmp_path: Path) -> None:
    """As Apache Hudi leaves it: bounds of both versions in one index cannot be united."""
    path = tmp_path / "t"
    created(path, 9, "COPY_ON_WRITE")
    storage, config, _, _ = open_metadata(path)
    definitions = load_definitions(storage, config)
    of_v1 = index_version_of(8)
    fields = tuple(bound_types(ROWS.schema, definitions["column_stats"].source_fields, of_v1))
    definitions["column_stats"] = replace(definitions["column_stats"], version=of_v1, source_fields=fields)
    (path / PATH).write_bytes(render_definitions(definitions))
    HudiTable.open(path).upsert(ROWS, APART)
    stated = stated_bounds(path)["base"]
    assert "LongWrapper(1767323045678901) LongWrapper(1767323045678901) None" in stated["timestamp"]
    assert any("DecimalWrapper" in text and text.endswith("None") for text in stated["decimal_9_2"])
    assert load_definitions(storage, config)["column_stats"].version == 1


def test_records_of_both_versions_survive_an_index_of_version_9() -> None:
    encoder = RecordEncoder(9)
    for version in (1, 2):
        stats = ColumnStats(RecordType.COLUMN_STATS, "f", "c", ValueType.DATE, 1, 2, 3, 0, 4, 5, index_version=version)
        assert RecordDecoder(encoder.file_schema, "t").decode(encoder.encode(stats)) == stats


MICROS = 1_700_000_000_000_000
MILLIS = MICROS // 1_000


def of_v1(low: int, high: int) -> ColumnStats:
    """A record of a timestamp column, as it is decoded."""
    return ColumnStats(RecordType.COLUMN_STATS, "f", "c", ValueType.LONG, low, high, 2, 0, 1, 1, index_version=1)


@pytest.mark.parametrize("kind", [ValueType.TIMESTAMP_MICROS, ValueType.LOCAL_TIMESTAMP_MICROS])
def test_timestamps_of_v1_are_united_where_their_unit_is_certain(kind: ValueType) -> None:
    (stats,) = partition_stats("p", [{"c": of_v1(MICROS, MICROS + 5)}, {"c": of_v1(MICROS - 5, MICROS)}], {"c": BoundType(kind, None, 1)})
    assert (stats.value_type, stats.minimum, stats.maximum) == (kind, MICROS - 5, MICROS + 5)
    # Milliseconds, of when the column counted these, or microseconds of the year 1970.
    (stats,) = partition_stats("p", [{"c": of_v1(MICROS, MICROS)}, {"c": of_v1(MILLIS, MILLIS)}], {"c": BoundType(kind, None, 1)})
    assert stats.minimum < -MICROS  # type: ignore[operator]
    assert stats.maximum > 2 * MICROS  # type: ignore[operator]


def test_timestamps_of_v1_rule_files_out_where_their_unit_is_certain() -> None:
    encoder = RecordEncoder(8)
    cells = [(name, encoder.encode(replace(of_v1(low, low), file_name=name.decode()))) for name, low in ((b"a", MICROS), (b"b", MILLIS))]
    stored = [StoredCells(CellPart.of(cells), encoder.file_schema)]
    indices = {b"a": 0, b"b": 1}
    for arrow in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        bounds = read_bounds(stored, lambda rows, names: [indices[name] for name in names], 2, arrow, "t")
        assert bounds.low.cast(pa.int64()).to_pylist() == [MICROS, None]
    bounds = read_bounds(stored, lambda rows, names: [indices[name] for name in names], 2, pa.timestamp("ms"), "t")
    assert bounds.low.to_pylist() == [None, None]


def of_float() -> ColumnStats:
    """A record of a column of floats, each of which is 0.1."""
    bound = float(pa.scalar(0.1, pa.float32()).as_py())
    return ColumnStats(RecordType.COLUMN_STATS, "f", "c", ValueType.FLOAT, bound, bound, 2, 0, 1, 1)


def test_bounds_of_floats_are_those_of_the_doubles_that_they_are_read_as() -> None:
    encoder = RecordEncoder(9)
    cells = [StoredCells(CellPart.of([(b"k", encoder.encode(of_float()))]), encoder.file_schema)]
    bounds = read_bounds(cells, lambda rows, _: [0] * len(rows), 1, pa.float64(), "column_stats")
    assert (bounds.low.to_pylist(), bounds.high.to_pylist()) == ([0.1], [0.1])
    (stats,) = partition_stats("p", [{"c": of_float()}], {"c": BoundType(ValueType.DOUBLE, None, 2)})
    assert (stats.minimum, stats.maximum) == (0.1, 0.1)
