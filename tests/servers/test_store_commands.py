"""The commands that look at a table, on tables of object stores."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from tests.servers.stores import Store

PATH = "commands/trips"


@pytest.fixture(scope="module")
def first_instant(slow_store: Store) -> str:
    schema = pa.schema({"id": pa.int64(), "city": pa.string()})
    table = HudiTable.create(slow_store.url(PATH), schema, name="trips", keys=["id"], storage_options=slow_store.options)
    first = table.insert([{"id": 1, "city": "oslo"}])
    table.upsert([{"id": 1, "city": "rome"}, {"id": 2, "city": "lima"}])
    assert first.instant is not None
    return first.instant


@pytest.mark.parametrize(
    ("command", "arguments", "rows"),
    [
        ("show", [], 1),
        ("head", [], 2),
        ("query", ["SELECT count(*) AS n FROM t"], 1),
        ("schema", [], 2),
        ("history", [], 2),
        ("commit", ["FIRST"], 1),
        ("slices", [], 1),
        ("stats", ["--column", "city"], 1),
        ("indexes", [], 2),
        ("find", ["2"], 1),
        ("changes", [], 2),
        ("diff", ["FIRST"], 3),
        ("sizes", [], 1),
        ("health", [], 0),
    ],
)
def test_a_command_works_on_a_table_of_a_store(
    slow_store: Store, first_instant: str, command: str, arguments: list[str], rows: int
) -> None:
    options = [part for name, value in slow_store.options.items() for part in ("--storage-option", f"{name}={value}")]
    arguments = [first_instant if argument == "FIRST" else argument for argument in arguments]
    result = CliRunner().invoke(main, [command, slow_store.url(PATH), *arguments, "--json", *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert len([json.loads(line) for line in result.stdout.splitlines()]) == rows


def test_tables_of_a_bucket_are_listed_and_named_in_the_error_of_their_folder(slow_store: Store, first_instant: str) -> None:
    options = [part for name, value in slow_store.options.items() for part in ("--storage-option", f"{name}={value}")]
    folder = slow_store.url("commands")
    assert slow_store.url(PATH) in CliRunner().invoke(main, ["ls", folder, *options], catch_exceptions=False).output
    result = CliRunner().invoke(main, ["show", folder, *options], catch_exceptions=False)
    assert result.exit_code == 1
    assert f"`pyhudi ls {folder}`" in result.output
