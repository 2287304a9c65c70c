"""Tables of many rows that both sides write in turn: pyhudi, Apache Hudi and hudi-rs read the rows of the model after each step."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.interop.large_tables import KINDS, first_difference, live
from tests.interop.numbered_rows import WIDE, NumberedRows, rows_of
from tests.interop.reference import ReferenceHudi

ROWS = int(os.environ.get("PYHUDI_LARGE_ROWS", "50000"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_the_model_after_each_step(kind: str, reference: ReferenceHudi, spark: SparkSession, tmp_path: Path) -> None:
    compared = live(tmp_path, kind, ROWS, 5, 1, reference, lambda: spark)
    assert compared > 10 * ROWS
    reference.compared += compared


def test_model_of_versions_gives_each_row_the_same_values_every_time() -> None:
    model = NumberedRows(WIDE)
    first = model.store(np.arange(1000))
    changed = model.store(np.array([7, 8]))
    removed = model.remove(np.array([7, 500]))
    rows = model.rows()
    assert rows.num_rows == 998
    assert rows.slice(7, 1).equals(changed.slice(1))
    assert removed.equals(pa.concat_tables([changed.slice(0, 1), first.slice(500, 1)]).combine_chunks())
    assert rows_of(WIDE, np.array([3]), np.array([1])).equals(first.slice(3, 1))


def test_first_difference_names_the_row_and_the_column() -> None:
    rows = NumberedRows(WIDE).store(np.arange(20))
    other = rows.set_column(2, WIDE.field("kind"), pa.array([*rows["kind"].to_pylist()[:-1], -1], pa.int32()))
    assert first_difference(other, rows).startswith("row 19, column kind: -1 instead of ")
    assert first_difference(rows.slice(1), rows) == "19 rows instead of 20; not expected: [], missing: [0]"
