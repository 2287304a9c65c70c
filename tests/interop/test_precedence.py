"""Which setting wins in Apache Hudi, and where it refuses: the cases that pyhudi is held to in tests/spark/test_precedence.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.interop.judge import Judge, JudgeError
from tests.precedence import CASES, Case, outcome


@dataclass
class ApacheHudi:
    judge: Judge
    refusals: tuple[type[Exception], ...] = (JudgeError,)

    def sql(self, statement: str) -> Any:
        return self.judge.sql(statement)

    def save(self, path: Path, rows: pa.Table, options: Mapping[str, str]) -> None:
        self.judge.write(path, rows, options=options)

    def refused(self, case: Case, error: Exception) -> None:
        pass

    def defaults(self, text: str) -> None:
        self.judge.defaults(text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_setting_wins_in_apache_hudi(case: Case, judge: Judge, tmp_path: Path) -> None:
    assert outcome(case, ApacheHudi(judge), tmp_path) == (case.hudi or case.outcome)
