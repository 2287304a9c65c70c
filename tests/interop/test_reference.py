"""Apache Hudi itself answers: rows in, rows out, refusals as text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.interop.reference import ReferenceFailure, ReferenceHudi


def test_rows_written_by_the_reference_come_back(reference: ReferenceHudi, tmp_path: Path) -> None:
    rows = pa.table({"id": ["a", "b"], "n": pa.array([1, 2], pa.int32())})
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}
    reference.write(tmp_path / "t", rows, "overwrite", options)
    assert reference.read(tmp_path / "t").select(["id", "n"]).sort_by("id").to_pylist() == rows.to_pylist()


def test_a_refusal_is_told_with_its_cause(reference: ReferenceHudi) -> None:
    with pytest.raises(ReferenceFailure, match="no_such_table"):
        reference.sql("SELECT * FROM no_such_table")
