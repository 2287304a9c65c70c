"""Commands that read a table: plain, as JSON, on a terminal, into a closed pipe; what they say of what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click import Context
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.look.rows_output import json_value, text_value
from pyhudi.cli.main import main
from tests.terminal import run_on_terminal


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    schema = pa.schema({"id": pa.int64(), "city": pa.string(), "fare": pa.float64()})
    table = HudiTable.create(tmp_path / "lake" / "trips", schema, name="trips", keys=["id"], partition_by=["city"])
    table.insert({"id": [1, 2, 3], "city": ["oslo", "oslo", "rome"], "fare": [1.0, 2.0, 3.0]})
    table.upsert({"id": [1, 4], "city": ["oslo", "rome"], "fare": [9.0, 4.0]})
    return table


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def rows(command: str, table: HudiTable, *arguments: str) -> list[dict[str, Any]]:
    result = invoke(command, table.storage.uri, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def on_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """What the command prints on a terminal of so many columns."""
    visible, _ = run_on_terminal(["-m", "pyhudi", *arguments], environment, columns=columns)
    return visible


def test_tables_below_a_folder_are_listed(table: HudiTable, tmp_path: Path) -> None:
    result = invoke("ls", str(tmp_path))
    assert result.output.splitlines()[0].split() == ["path", "name", "type", "version"]
    assert result.output.splitlines()[1].split() == [table.storage.uri, "trips", "COPY_ON_WRITE", "9"]


def test_a_table_is_shown(table: HudiTable) -> None:
    (properties,) = rows("show", table)
    assert properties["record_key"] == ["id"]
    assert properties["columns"] == ["id", "city", "fare"]
    assert (properties["active_commits"], properties["last_commit"]["inserted"], properties["last_commit"]["updated"]) == (2, 1, 1)
    assert "partitioned by  city" in invoke("show", table.storage.uri).output


def test_an_empty_table_is_shown(tmp_path: Path) -> None:
    empty = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t")
    (properties,) = rows("show", empty)
    assert (properties["record_key"], properties["active_commits"]) == ([], 0)
    assert rows("head", empty) == []
    assert invoke("history", empty.storage.uri).output.startswith("action")


def test_rows_are_shown_filtered_and_of_earlier_times(table: HudiTable) -> None:
    assert len(rows("head", table, "-n", "3")) == 3
    assert rows("head", table, "--columns", "fare, id", "--filter", "id = 1") == [{"fare": 9.0, "id": 1}]
    first = table.history()["completed"][0].as_py()
    assert rows("head", table, "--columns", "fare", "--filter", "id = 1", "--as-of", first) == [{"fare": 1.0}]
    assert rows("changes", table, "--since", first)[0].keys() == {"id", "city", "fare"}
    assert len(rows("changes", table, "--since", first)) == 2


def test_two_times_are_compared(table: HudiTable) -> None:
    first = table.history()["completed"][0].as_py()
    table.delete(where="id = 2")
    assert [(row["change"], row["id"], row["fare"]) for row in rows("diff", table, first)] == [
        ("<", 1, 1.0),
        (">", 1, 9.0),
        ("-", 2, 2.0),
        ("+", 4, 4.0),
    ]


def test_sql_is_run_by_duckdb(table: HudiTable) -> None:
    assert rows("query", table, "SELECT city, sum(fare) AS fare FROM t GROUP BY city ORDER BY city") == [
        {"city": "oslo", "fare": 11.0},
        {"city": "rome", "fare": 7.0},
    ]
    wrong = invoke("query", table.storage.uri, "SELECT nothing FROM t")
    assert wrong.exit_code == 2
    assert wrong.output.startswith("error: DuckDB: ")
    none = invoke("query", table.storage.uri, "CREATE TABLE x (a INT)")
    assert (none.exit_code, none.output) == (2, "error: the statement has no result: pyhudi query runs a SELECT\n")


def test_without_duckdb_a_query_says_what_to_install(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = invoke("query", table.storage.uri, "SELECT 1")
    assert (result.exit_code, result.output) == (1, "error: pyhudi query needs the package duckdb: pip install duckdb\n")


def test_a_record_is_found_by_its_key(table: HudiTable) -> None:
    (row,) = rows("find", table, "4")
    assert (row["_hoodie_record_key"], row["city"]) == ("4", "rome")
    missing = invoke("find", table.storage.uri, "77")
    assert missing.exit_code == 1
    assert "there is no record with the key '77'" in missing.output


def test_the_parts_of_a_table_are_shown(table: HudiTable) -> None:
    assert [row["column"] for row in rows("schema", table)] == ["id", "city", "fare"]
    history = rows("history", table)
    assert [row["operation"] for row in history] == ["INSERT", "UPSERT"]
    assert [row["operation"] for row in rows("history", table, "-n", "1")] == ["UPSERT"]
    written = rows("commit", table, history[1]["requested"])
    assert sum(row["updated"] for row in written) == 1
    assert {row["partition"] for row in written} == {"oslo", "rome"}
    assert len(rows("slices", table)) == 2
    assert len(rows("slices", table, "--all")) == 4
    assert [row["partition_path"] for row in rows("sizes", table)] == ["oslo", "rome"]
    assert {row["column"] for row in rows("stats", table, "--column", "fare")} == {"fare"}
    assert {row["index"] for row in rows("indexes", table)} >= {"files", "column_stats"}
    assert rows("health", table) == []


def test_a_damaged_table_is_not_healthy(table: HudiTable) -> None:
    next(Path(table.storage.uri, "rome").glob("*.parquet")).unlink()
    result = invoke("health", table.storage.uri)
    assert result.exit_code == 1
    assert "rome" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("head",),
        ("history",),
        ("schema",),
        ("slices",),
        ("stats",),
        ("health",),
        ("find", "1"),
        ("query", "SELECT 1"),
        ("diff", "1"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_path_without_a_table_is_an_error_of_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = invoke(arguments[0], str(tmp_path), *arguments[1:])
    assert result.exit_code == 1
    assert result.output == f"error: there is no Hudi table at {tmp_path}: it has no .hoodie/hoodie.properties\n"


def test_for_a_folder_of_tables_the_error_names_the_command_that_lists_them(table: HudiTable) -> None:
    folder = str(Path(table.storage.uri).parent)
    result = invoke("show", folder)
    assert result.exit_code == 1
    assert result.output.splitlines()[1] == f"There are tables in this folder: `pyhudi ls {folder}` lists them."
    assert table.storage.uri in invoke("ls", folder).output


def test_wrong_arguments_are_errors_of_one_line(table: HudiTable, tmp_path: Path) -> None:
    path = table.storage.uri
    for arguments, problem in (
        (("head", path, "--columns", "fair"), "no column 'fair'"),
        (("commit", path, "20200101000000000"), "has no completed commit"),
        (("stats", path, "--column", "fair"), "no column 'fair'"),
        (("ls", str(tmp_path / "nothing")), "no folder, or an empty one"),
        (("show", path, "--storage-option", "x"), "write KEY=VALUE"),
    ):
        result = invoke(*arguments)
        assert (result.exit_code, len(result.output.splitlines())) == (2, 1)
        assert problem in result.output


def test_every_command_has_its_help() -> None:
    listing = invoke("--help").output
    for name in main.list_commands(Context(main)):
        assert f"  {name} " in listing
        assert invoke(name, "--help").output.startswith("Usage:")
    assert invoke("shw").exit_code == 2
    assert invoke("--version").output.startswith("pyhudi ")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str) -> None:
    assert "_PYHUDI_COMPLETE" in invoke("completion", shell).output


def test_a_terminal_of_60_columns_is_enough(table: HudiTable) -> None:
    lines = on_terminal(60, "history", table.storage.uri, NO_COLOR="1").split("\r\n")
    assert max(map(len, lines)) <= 60
    assert "operation             UPSERT" in lines
    lines = on_terminal(60, "head", table.storage.uri, "--filter", "id = 4", NO_COLOR="1").split("\r\n")
    assert [line.split() for line in lines[:2]] == [["id", "city", "fare"], ["4", "rome", "4.0"]]
    assert "\x1b[1m" in on_terminal(60, "head", table.storage.uri)


def test_no_colour_is_no_colour(table: HudiTable) -> None:
    printed = on_terminal(80, "show", table.storage.uri, NO_COLOR="1")
    assert "\x1b" not in printed
    assert "trips" in printed


@pytest.mark.parametrize("command", ["show", "history", "head"])
def test_a_terminal_without_styles_gets_none(table: HudiTable, command: str) -> None:
    assert "\x1b" not in on_terminal(60, command, table.storage.uri, TERM="dumb")


def test_a_pipe_that_is_closed_is_no_stack_trace(table: HudiTable) -> None:
    command = f"'{sys.executable}' -m pyhudi slices --all '{table.storage.uri}' | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""


def test_what_a_table_is_needs_no_pyarrow(table: HudiTable) -> None:
    program = (
        "import sys; from click.testing import CliRunner; from pyhudi.cli.main import main;"
        f"CliRunner().invoke(main, ['show', {table.storage.uri!r}], catch_exceptions=False);"
        "print({'pyarrow', 'numpy', 'rich', 'pyspark'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "set()"


def test_values_are_json_and_one_line() -> None:
    assert json_value({"a": (1.5, float("nan"), None), "b": b"\x01"}) == {"a": [1.5, "nan", None], "b": "01"}
    assert text_value("a\x1b[31mb\nc") == "a\\x1b[31mb\\nc"
    assert text_value(True) == "true"
