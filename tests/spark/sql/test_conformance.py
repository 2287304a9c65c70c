"""Scripts whose answers were recorded from Apache Hudi 1.2.0, replayed: every answer is the same, or a listed difference."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyhudi.errors import HudiError
from tests.conformance.differences import Difference, listed
from tests.conformance.play import play
from tests.conformance.script import read_script, themes
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark


#: The scripts of Apache Hudi's pages.
PAGES = {theme for theme in themes() if theme.startswith("page_")}


@pytest.mark.parametrize("theme", slow_cases(themes(), PAGES))
def test_a_script_is_answered_as_by_apache_hudi(theme: str, spark: SparkSession, tmp_path: Path) -> None:
    def engine(statement: str) -> pa.Table:
        return spark.sql(statement).toArrow()

    steps = read_script(theme)
    answers = list(play(engine, steps, tmp_path / "db", f"conformance_{theme}", (HudiError, AnalysisException)))
    expected = {difference.statement: difference for difference in listed(theme)}
    problems = []
    for step, answer in zip(steps, answers, strict=True):
        problem = reference_answer(list(step.answer), answer, expected.pop(step.label or "", None))
        if problem:
            problems.append("\n".join([f"{step.text};", problem, *(f"  {line}" for line in answer)]))
    problems += [f"differences.toml lists {statement}, which the script has not" for statement in expected]
    assert not problems, "\n\n".join(problems)


def reference_answer(recorded: list[str], answer: list[str], difference: Difference | None) -> str | None:
    """Return what is wrong with an answer, or None."""
    same = answer == recorded or (is_error(answer) and is_error(recorded))
    if difference is None:
        return None if same else "\n".join(["Apache Hudi answers", *(f"  {line}" for line in recorded), "and pyhudi, without being listed"])
    if same:
        return "is listed as a difference and is none; pyhudi answers"
    if not difference.allows(answer):
        return "\n".join(["differs from what is listed,", *(f"  {line}" for line in difference.answer), "and is"])
    return None


def is_error(answer: list[str]) -> bool:
    return answer[0].startswith("error ")
