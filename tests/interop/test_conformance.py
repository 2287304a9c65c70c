"""The recorded answers of `tests/conformance` are those of the Apache Hudi that runs here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.script import read_script, themes
from tests.interop.record_scripts import recorded
from tests.interop.reference import ReferenceHudi
from tests.slow_cases import slow_cases

#: Cheap, and with answers of every kind: rows, types, times, errors.
SAMPLE = "partitions"


@pytest.mark.parametrize("theme", slow_cases(themes(), set(themes()) - {SAMPLE}))
def test_a_recorded_script_is_what_apache_hudi_answers(theme: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    assert recorded(reference, theme, tmp_path / "db") == read_script(theme)
