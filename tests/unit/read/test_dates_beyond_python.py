"""Filters beside dates that Arrow has and Python has not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.read.filter.literals import members
from pyhudi.table.hudi_table import HudiTable


def test_a_list_of_literals_may_hold_a_date_before_the_year_1() -> None:
    assert members(["0000-01-01", None], pa.date32()).cast(pa.int32()).to_pylist() == [-719_528]


@pytest.mark.parametrize("index", ["false", "true"])
def test_a_list_is_looked_for_among_bounds_beyond_pythons_calendar(index: str) -> None:
    days = pa.array([-800_000, 0, 1, 4_000_000], pa.int32()).cast(pa.date32())
    rows = pa.table({"id": [1, 2, 3, 4], "day": days})
    table = HudiTable.create("memory:///dates_beyond_python_" + index, rows.schema, name="t", keys=["id"])
    table.upsert(rows, {"hoodie.metadata.index.column.stats.enable": index})
    assert table.to_arrow(filter="day in ('1970-01-01', '2020-01-01')")["id"].to_pylist() == [2]
    assert table.count(filter="day not in ('1970-01-01', '2020-01-01')") == 3
