"""Pre-commit validators: what they see, and that a write they refuse leaves nothing visible."""

from __future__ import annotations

import importlib
import logging
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyhudi
from pyhudi import HudiTable
from pyhudi.errors import HudiError, OptionError, UnsupportedError, ValidationError
from pyhudi.write.options import validators

JAVA = "org.apache.hudi.client.validator."
KEY = "hoodie.precommit.validators"
SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "fare": pa.int64()})
KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]


def single(*queries: str, **more: str) -> dict[str, str]:
    return {KEY: f"{JAVA}SqlQuerySingleResultPreCommitValidator", f"{KEY}.single.value.sql.queries": ";".join(queries), **more}


def equality(query: str) -> dict[str, str]:
    return {KEY: f"{JAVA}SqlQueryEqualityPreCommitValidator", f"{KEY}.equality.sql.queries": query}


def inequality(query: str) -> dict[str, str]:
    return {KEY: f"{JAVA}SqlQueryInequalityPreCommitValidator", f"{KEY}.inequality.sql.queries": query}


def row(key: str, city: str, fare: int) -> dict[str, Any]:
    return {"id": key, "city": city, "fare": fare}


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> HudiTable:
    version = {"hoodie.write.table.version": "9" if request.param == "COPY_ON_WRITE" else "6"}
    made = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=request.param, options=version)
    made.insert([row("a", "oslo", 1), row("b", "oslo", 2), row("c", "rome", 3)])
    return made


def refused(table: HudiTable, match: str, write: Any, error: type[HudiError] = ValidationError) -> None:
    """The write raises, and neither rows nor history nor files show it."""
    before, commits = sorted(map(str, table.to_arrow().to_pylist())), table.history().num_rows
    with pytest.raises(error, match=match):
        write()
    again = HudiTable.open(table.storage.uri)
    assert sorted(map(str, again.to_arrow().to_pylist())) == before
    assert [one["state"] for one in again.history().to_pylist() if one["action"] in ("commit", "deltacommit")] == ["completed"] * commits
    again.upsert([row("z", "oslo", 9)])
    assert again.inspect.health().num_rows == 0


def test_single_result_is_asked_of_the_rows_after_the_write(table: HudiTable) -> None:
    query = "SELECT count(*) FROM <TABLE_NAME> WHERE fare < 0#0"
    table.upsert([row("a", "oslo", 5)], single(query))
    refused(
        table, r"the query 'SELECT count.*' has the answer 1, expected was 0", lambda: table.upsert([row("a", "oslo", -5)], single(query))
    )


def test_table_of_the_queries_is_the_partitions_that_the_write_touches(table: HudiTable) -> None:
    table.upsert([row("a", "oslo", 5), row("d", "oslo", 6)], single("SELECT sum(fare) FROM <TABLE_NAME>#13"))
    table.upsert([row("e", "bern", 7)], single("SELECT count(*) FROM <TABLE_NAME>#1", "SELECT max(id) FROM <TABLE_NAME>#e"))
    table.delete(pa.table({"id": ["a"], "city": ["oslo"]}), options=single("SELECT count(*) FROM <TABLE_NAME>#2"))


def test_same_and_other_answers_before_and_after(table: HudiTable) -> None:
    table.upsert([row("a", "oslo", 5)], equality("SELECT count(*) FROM <TABLE_NAME>"))
    table.upsert([row("a", "oslo", 6)], inequality("SELECT sum(fare) FROM <TABLE_NAME>"))
    refused(
        table,
        r"shall have the same answer after the write\. Before it: \(2,\); after it: \(3,\)",
        lambda: table.upsert([row("d", "oslo", 5)], equality("SELECT count(*) FROM <TABLE_NAME>")),
    )


def test_inequality_refuses_the_same_answer(table: HudiTable) -> None:
    options = inequality("SELECT count(*) FROM <TABLE_NAME>")
    refused(table, r"shall have another answer .*\(2,\); after it: \(2,\)", lambda: table.upsert([row("a", "oslo", 5)], options))


def test_replaced_file_groups_are_not_seen_after_the_write(table: HudiTable) -> None:
    table.overwrite([row("d", "oslo", 4)], options=single("SELECT count(*) FROM <TABLE_NAME>#1"))
    assert [one["id"] for one in table.to_arrow().to_pylist()] == ["d"]


def test_first_write_and_bulk_insert_are_validated(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    with pytest.raises(ValidationError, match="has the answer 1"):
        table.bulk_insert([row("a", "oslo", 1)], single("SELECT count(*) FROM <TABLE_NAME>#2"))
    assert table.to_arrow().num_rows == 0
    table.insert([row("a", "oslo", 1)], equality("SELECT count(*) FROM <TABLE_NAME> WHERE fare < 0"))
    assert table.to_arrow().num_rows == 1


def test_write_that_widens_a_column_is_validated_under_the_new_schema(table: HudiTable) -> None:
    table.upsert(pa.table({"id": ["a"], "city": ["oslo"], "fare": [1.5]}), single("SELECT sum(fare) FROM <TABLE_NAME>#3.5"))


class NoNegativeFares:
    def validate(self, before: pa.Table, after: pa.Table) -> None:
        if any(fare < 0 for fare in after["fare"].to_pylist()):
            raise ValueError(f"a fare is negative; {before.num_rows} rows before")


class Nothing:
    pass


def test_validator_in_python(table: HudiTable) -> None:
    options = {KEY: f"{__name__}:NoNegativeFares"}
    table.upsert([row("a", "oslo", 5)], options)
    refused(
        table,
        "NoNegativeFares refuses the write: ValueError: a fare is negative; 2 rows",
        lambda: table.upsert([row("a", "oslo", -1)], options),
    )


def test_registered_validator_stands_for_a_java_class(table: HudiTable) -> None:
    pyhudi.register_validator("com.example.Fares", NoNegativeFares())
    refused(table, "com.example.Fares refuses", lambda: table.upsert([row("a", "oslo", -1)], {KEY: "com.example.Fares"}))


def test_refusal_may_be_a_warning(table: HudiTable, caplog: pytest.LogCaptureFixture) -> None:
    options = single("SELECT count(*) FROM <TABLE_NAME>#99", **{f"{KEY}.failure.policy": "WARN_LOG"})
    with caplog.at_level(logging.WARNING, "pyhudi.write"):
        table.upsert([row("a", "oslo", 5)], options)
    assert "in spite of a validator" in caplog.text
    assert "expected was 99" in caplog.text


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({KEY: f"{JAVA}SqlQueryEqualityPreCommitValidator"}, OptionError, "holds no query"),
        (single("SELECT count(*) FROM <TABLE_NAME>"), OptionError, "followed by # and the value"),
        (single("SELECT 1#1"), OptionError, "does not read <TABLE_NAME>"),
        ({KEY: "com.example.Unknown"}, UnsupportedError, "Java classes are not loaded"),
        ({KEY: f"{__name__}:Nothing"}, OptionError, "no class with a method validate"),
        ({KEY: f"{__name__}:Missing"}, OptionError, "no validator can be made of it"),
        ({KEY: "", f"{KEY}.failure.policy": "IGNORE"}, OptionError, "failure.policy"),
        (single("SELECT nothing FROM <TABLE_NAME>#1"), OptionError, "SELECT nothing FROM <?"),
        (single("SELECT id, fare FROM <TABLE_NAME>#1"), OptionError, "shall have one value"),
    ],
)
def test_misuse_is_refused(table: HudiTable, options: dict[str, str], error: type[HudiError], says: str) -> None:
    refused(table, says, lambda: table.upsert([row("a", "oslo", 5)], options), error)


def test_without_an_engine_for_queries_nothing_is_written(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr("pyhudi.table.validation.query_runner._engines", [])
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UnsupportedError, match="pip install duckdb"):
        table.upsert([row("a", "oslo", 5)], single("SELECT count(*) FROM <TABLE_NAME>#2"))
    monkeypatch.undo()
    assert table.history().num_rows == 1


def test_queries_that_no_validator_runs_are_warned_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    validators._warn_of_queries.cache_clear()
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    for number in range(2):
        table.upsert([row(f"{number}", "oslo", 1)], {f"{KEY}.equality.sql.queries": "SELECT count(*) FROM <TABLE_NAME>"})
    messages = [record.message for record in caplog.records if record.name == "pyhudi.options"]
    assert messages == [
        f"option '{KEY}.equality.sql.queries' has no effect: its queries are run where {KEY} names {JAVA}SqlQueryEqualityPreCommitValidator"
    ]
    assert table.count() == 2
