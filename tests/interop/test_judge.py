"""The judge itself answers: rows in, rows out, refusals as text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.interop.judge import Judge, JudgeError


def test_rows_written_by_the_judge_come_back(judge: Judge, tmp_path: Path) -> None:
    rows = pa.table({"id": ["a", "b"], "n": pa.array([1, 2], pa.int32())})
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}
    judge.write(tmp_path / "t", rows, "overwrite", options)
    assert judge.read(tmp_path / "t").select(["id", "n"]).sort_by("id").to_pylist() == rows.to_pylist()


def test_a_refusal_is_told_with_its_cause(judge: Judge) -> None:
    with pytest.raises(JudgeError, match="no_such_table"):
        judge.sql("SELECT * FROM no_such_table")
