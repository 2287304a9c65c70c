"""Tables of Apache Hudi with a metadata table: what is skipped changes no answer, and something is skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.types as pt
import pytest

from pyhudi.read.execute import Selection, read_slices, read_table, select
from pyhudi.read.query import SnapshotQuery
from pyhudi.read.skipping import Skipping
from pyhudi.read.snapshot import open_snapshot
from pyhudi.storage.local import LocalStorage
from tests.tables import LANCE
from tests.unit.metadata_table.tables import WITH_METADATA_TABLE

TABLES = [name for name in WITH_METADATA_TABLE if name not in LANCE]


def selected(base: Path, condition: str | None, *, skips_data: bool = True) -> Selection:
    return select(open_snapshot(LocalStorage(str(base)), SnapshotQuery(skips_data=skips_data)), None, condition)


def conditions(rows: pa.Table) -> Iterator[str]:
    """Comparisons of each column with two of its values, and tests for null."""
    for field in rows.schema:
        if pt.is_nested(field.type) or pt.is_binary(field.type):
            continue
        yield f"`{field.name}` IS NULL"
        values = sorted({str(value).removesuffix("+00:00") for value in rows[field.name].to_pylist() if value is not None})
        for value in {*values[:1], *values[-1:]}:
            literal = value if pt.is_integer(field.type) or pt.is_floating(field.type) or pt.is_boolean(field.type) else f"'{value}'"
            yield from (f"`{field.name}` {symbol} {literal}" for symbol in ("=", "<", ">=", "!="))
            yield f"NOT (`{field.name}` > {literal} OR `{field.name}` = {literal})"


@pytest.mark.parametrize("name", TABLES)
def test_a_filter_finds_the_same_rows_with_and_without_skipping(fixture_table: Callable[[str], Path], name: str) -> None:
    base = fixture_table(name)
    everything = read_table(selected(base, None))
    reasons: Counter[str] = Counter()
    for condition in conditions(everything):
        selection = selected(base, condition)
        chosen = Skipping(selection.snapshot, selection.test, at_any_price=True).choose(selection.snapshot.partition_paths)
        reasons.update([*chosen.partitions_out.values(), *chosen.slices_out.values()])
        found = pa.Table.from_batches(read_slices(selection, chosen.slices), schema=selection.schema)
        expected = read_table(selected(base, condition, skips_data=False))
        assert sorted(map(str, found.to_pylist())) == sorted(map(str, expected.to_pylist())), condition
    assert reasons["column_stats"] > 0
