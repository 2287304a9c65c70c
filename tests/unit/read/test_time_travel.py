"""Reading the past: every commit of a table can be read as it was, in each way to write a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import UsageError


def ids(path: Path, as_of: str | datetime) -> list[str]:
    return sorted(HudiTable.open(path).to_arrow(columns=["txn_id"], as_of=as_of)["txn_id"].to_pylist())


def commits(path: Path) -> list[tuple[str, str, str]]:
    rows = HudiTable.open(path).history().to_pylist()
    return [(row["requested"], row["completed"], row["operation"]) for row in rows if row["operation"]]


@pytest.mark.parametrize("kind", ["cow", "mor/avro"])
def test_each_commit_can_be_read_as_it_was(kind: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(f"{kind}/v9_txns_simple_overwrite")
    first, *_, last = commits(path)
    assert ids(path, last[0]) == ids(path, last[1]) == ["TXN-101", "TXN-102", "TXN-103"]
    assert ids(path, first[0]) != ids(path, last[0])


def test_before_the_first_commit_there_are_no_rows(fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table("cow/v9_txns_simple_nometa")
    assert ids(path, "2020-01-01") == []
    assert ids(path, datetime(2020, 1, 1, tzinfo=UTC)) == []


def test_the_last_commit_before_a_date_counts(fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table("cow/v9_txns_simple_nometa")
    assert len(ids(path, "2099-12-31")) == 12


def test_a_replaced_file_group_is_there_before_it_was_replaced(fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table("cow/v9_txns_simple_nometa")
    history = commits(path)
    at = next(index for index, entry in enumerate(history) if entry[2] == "INSERT_OVERWRITE")
    assert {"TXN-009", "TXN-010"} <= set(ids(path, history[at - 1][0]))
    assert not {"TXN-009", "TXN-010"} & set(ids(path, history[at][0]))


def test_a_time_whose_files_were_cleaned_is_refused(fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table("apache_hudi/cleaned_and_archived_v9")
    first = HudiTable.open(path).history()["requested"].to_pylist()[0]
    with pytest.raises(UsageError, match="earliest time"):
        HudiTable.open(path).to_arrow(as_of=first)


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01", "", "12345"])
def test_a_text_that_is_no_time_is_refused(time: str, fixture_table: Callable[[str], Path]) -> None:
    with pytest.raises(UsageError):
        HudiTable.open(fixture_table("cow/v8_empty")).to_arrow(as_of=time)
