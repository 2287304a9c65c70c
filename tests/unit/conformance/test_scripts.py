"""The scripts' text form, and the list of wanted differences against its page."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.conformance.answers import rows_answer, stable
from tests.conformance.differences import listed
from tests.conformance.script import SCRIPTS, parse, read_script, render, themes

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"


@pytest.mark.parametrize("theme", themes())
def test_a_script_is_written_as_it_was_read_and_every_statement_has_an_answer(theme: str) -> None:
    text = (SCRIPTS / f"{theme}.sql").read_text()
    assert render(parse(text)) == text
    assert [step.text for step in parse(text) if not step.answer] == []


def test_every_listed_difference_stands_on_the_page_and_is_of_a_labelled_statement() -> None:
    cases = {line.split(" | ")[0].removeprefix("| ") for line in PAGE.read_text().splitlines() if line.startswith("| ")}
    labels = {theme: {step.label for step in read_script(theme)} for theme in themes()}
    for difference in listed():
        assert difference.case in cases
        assert difference.statement in labels[difference.theme]


def test_comments_labels_and_timestamps_belong_to_the_statement_below() -> None:
    (step,) = parse("-- [late]\n-- let a = completed t -1\n-- mask x, y\nSELECT 1\n  FROM t;\n--> x int\n--> 1\n")
    assert (step.label, step.masked, list(step.moments())) == ("late", frozenset({"x", "y"}), [("a", "completed", "t", -1)])
    assert (step.text, step.answer, step.is_query) == ("SELECT 1\n  FROM t", ("x int", "1"), True)


def test_times_are_masked_by_rank_and_files_altogether() -> None:
    name = "0b0f2f5e-7c4b-4b7f-9d42-0123456789ab-0_0-12-34_20261121203259123.parquet"
    assert stable([f"/d/t/{name}", "20261121203259122"], "/d") == ["{folder}/t/<file>_<time 2>.parquet", "<time 1>"]


def test_rows_are_sorted_under_their_columns_and_types() -> None:
    rows = pa.table({"a": pa.array([2, None], pa.int32()), "b": [{"x": [1.5]}, None]})
    assert rows_answer(rows, ["a"], "/d") == ["a int, b struct<x: array<double>>", "* | {x: [1.5]}", "NULL | NULL"]
