"""Which setting wins in Apache Hudi, and where it refuses: the cases that pyhudi is held to in tests/spark/test_precedence.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.interop.reference import ReferenceFailure, ReferenceHudi
from tests.precedence import CASES, Case, outcome


@dataclass
class ApacheHudi:
    reference: ReferenceHudi
    refusals: tuple[type[Exception], ...] = (ReferenceFailure,)

    def sql(self, statement: str) -> Any:
        return self.reference.sql(statement)

    def save(self, path: Path, rows: pa.Table, options: Mapping[str, str]) -> None:
        self.reference.write(path, rows, options=options)

    def refused(self, case: Case, error: Exception) -> None:
        pass

    def defaults(self, text: str) -> None:
        self.reference.defaults(text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_setting_wins_in_apache_hudi(case: Case, reference: ReferenceHudi, tmp_path: Path) -> None:
    assert outcome(case, ApacheHudi(reference), tmp_path) == (case.hudi or case.outcome)
