"""`HudiTable.history`: one row an action, the archived ones too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError
from tests.tables import BASE_ONLY, WITH_LOGS, unpack


def rows(path: Path) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = HudiTable.open(path).history().to_pylist()
    return result


@pytest.mark.parametrize("name", [*BASE_ONLY, *WITH_LOGS])
def test_every_action_of_the_timeline_has_a_row(name: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(name)
    is_version_6 = "/v6_" in name or name.endswith("_v6")
    folder = path / ".hoodie" / ("" if is_version_6 else "timeline")
    times = {file.name.split("_")[0].split(".")[0] for file in folder.iterdir() if file.name[0].isdigit()}
    result = rows(path)
    assert times <= {row["requested"] for row in result}
    assert [row["requested"] for row in result] == sorted(row["requested"] for row in result)


@pytest.mark.parametrize(("version", "folder"), [("v6", ".hoodie"), ("v9", ".hoodie/timeline")])
def test_archived_commits_come_first_with_their_counts(version: str, folder: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(f"apache_hudi/cleaned_and_archived_{version}")
    active = {file.name.split("_")[0].split(".")[0] for file in (path / folder).glob("2*")}
    result = rows(path)
    archived = [row for row in result if row["requested"] not in active]
    assert archived == result[: len(archived)] != []
    assert all(row["state"] == "completed" for row in archived)
    assert version == "v6" or all(row["completed"] > row["requested"] for row in archived)
    assert all(row["inserted"] + row["updated"] > 0 for row in archived if row["action"] == "commit")


def test_a_pending_write_is_shown_as_such(fixture_table: Callable[[str], Path]) -> None:
    pending = [row for row in rows(fixture_table("apache_hudi/pending_write_v9")) if row["state"] != "completed"]
    assert [(row["action"], row["completed"], row["inserted"]) for row in pending] == [("commit", None, None)]


def test_operations_and_counts_are_those_of_the_commits(fixture_table: Callable[[str], Path]) -> None:
    first, *_ = rows(fixture_table("cow/v9_txns_simple_nometa"))
    assert (first["operation"], first["inserted"], first["files_written"]) == ("INSERT", 8, 3)


def test_a_version_that_is_not_served_is_refused(tmp_path: Path) -> None:
    path = unpack("cow/v8_empty", tmp_path)
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_bytes(properties.read_bytes().replace(b"hoodie.table.version=8", b"hoodie.table.version=10"))
    with pytest.raises(UnsupportedError, match="version=10"):
        rows(path)
