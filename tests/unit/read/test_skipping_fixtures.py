"""Tables of Apache Hudi with a metadata table: what its indexes rule out changes no answer, and each of them rules something out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.types as pt
import pytest

from pyhudi.read.execute import read_slices, read_table, select
from pyhudi.read.skipping.data_skipping import Skipping
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.storage.local_storage import LocalStorage
from tests.tables import LANCE
from tests.unit.metadata_table.tables import WITH_METADATA_TABLE

#: One table of each kind, with the indexes that must rule something out.
TABLES = {
    "cow/v9_txns_simple_meta": {
        "column_stats",
        "partition_stats",
        "record_index",
        "secondary_index_merchant_idx",
        "secondary_index_txn_date_idx",
    },
    "mor/avro/v8_trips_8i3u1d": {"column_stats", "partition_stats", "record_index", "secondary_index_rider_idx"},
    "mor/avro/v9_timebasedkeygen_nonhivestyle": {"column_stats", "partition_stats"},
}
OTHERS = [name for name in WITH_METADATA_TABLE if name not in LANCE and name not in TABLES]


def conditions(rows: pa.Table) -> Iterator[str]:
    """Comparisons of each column with its least and greatest value, and tests for null."""
    for field in rows.schema:
        if pt.is_nested(field.type) or pt.is_binary(field.type):
            continue
        yield f"`{field.name}` IS NULL"
        values = sorted({str(value).removesuffix("+00:00") for value in rows[field.name].to_pylist() if value is not None})
        is_bare = pt.is_integer(field.type) or pt.is_floating(field.type) or pt.is_boolean(field.type)
        for value in {*values[:1], *values[-1:]}:
            literal = value if is_bare else f"'{value}'"
            yield from (f"`{field.name}` {symbol} {literal}" for symbol in ("=", "<", ">="))
            yield f"NOT (`{field.name}` > {literal} OR `{field.name}` = {literal})"


def reasons(base: Path) -> Counter[str]:
    """Compare all answers, and count what was ruled out by which index."""
    snapshot = open_snapshot(LocalStorage(str(base)), SnapshotQuery())
    everything = read_table(select(open_snapshot(snapshot.storage, SnapshotQuery(use_metadata_table=False)), None, meta_columns=True))
    counts: Counter[str] = Counter()
    for condition in conditions(everything):
        selection = select(snapshot, everything.column_names, condition)
        chosen = Skipping(snapshot, selection.test, at_any_price=True).choose(selection.paths)
        counts.update([*chosen.partitions_out.values(), *(index for _, index in chosen.slices_out)])
        rows = pa.Table.from_batches(read_slices(selection, chosen.slices), schema=selection.schema)
        assert sorted(map(str, rows.to_pylist())) == sorted(map(str, everything.filter(selection.condition).to_pylist())), condition
    return counts


@pytest.mark.parametrize("name", TABLES)
def test_each_index_rules_out_files_and_no_row(fixture_table: Callable[[str], Path], name: str) -> None:
    assert set(reasons(fixture_table(name))) == TABLES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_indexes_of_all_tables_rule_out_no_row(fixture_table: Callable[[str], Path], name: str) -> None:
    assert reasons(fixture_table(name))["column_stats"] > 0
