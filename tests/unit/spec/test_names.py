"""Names of files: every name on a fixture table is taken apart and put together again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import UnsupportedError
from pyhudi.spec.files.file_names import PARTITION_METAFILE, LogFileName, parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State, parse_instant
from tests.tables import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_data_file_of_a_fixture_table_has_a_name_that_comes_back(name: str, fixture_table: Callable[[str], Path]) -> None:
    table = fixture_table(name)
    for path in table.rglob("*"):
        inside = path.relative_to(table).parts
        if not path.is_file() or (".hoodie" in inside and "metadata" not in inside) or ".hoodie" in inside[2:]:
            continue
        if path.name.startswith(PARTITION_METAFILE) or path.name.endswith(".crc") or path.name == ".DS_Store":
            continue
        result = parse_base_file_name(path.name) or parse_log_file_name(path.name)
        assert str(result) == path.name


@pytest.mark.parametrize("name", NAMES)
def test_every_instant_of_a_fixture_table_has_a_name_that_comes_back(name: str, fixture_table: Callable[[str], Path]) -> None:
    for layout, folder in ((1, ".hoodie"), (2, ".hoodie/timeline")):
        for path in (fixture_table(name) / folder).glob("[0-9]*"):
            instant = parse_instant(path.name, layout)
            assert instant is not None
            assert instant.file_name(layout) == path.name


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("state", State)
def test_every_state_of_every_action_has_a_name_that_comes_back(layout: int, action: Action, state: State) -> None:
    completed = "20260101000000001" if state is State.COMPLETED and layout == 2 else None
    instant = Instant("20260101000000000", action, state, completed)
    result = parse_instant(instant.file_name(layout), layout)
    # Layout 1 knows a pending clustering as a replacecommit.
    pending_clustering = layout == 1 and action is Action.CLUSTERING and state is not State.COMPLETED
    assert result == (Instant(instant.requested, Action.REPLACE_COMMIT, state) if pending_clustering else instant)


@pytest.mark.parametrize(
    "name", ["", "history", "hoodie.properties", "x.commit", "1.commit.tmp", "1.commit.requested.tmp", "manifest_1", "1"]
)
def test_other_files_are_no_instants(name: str) -> None:
    assert parse_instant(name, 2) is None


def test_an_unknown_action_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnsupportedError, match="'timewarp'; known are commit, deltacommit"):
        parse_instant("1.timewarp.requested", 2)


@given(st.text(max_size=40))
def test_any_name_is_taken_apart_or_not(name: str) -> None:
    for result in (parse_base_file_name(name), parse_log_file_name(name)):
        assert result is None or result.instant.isdecimal() or isinstance(result, LogFileName)


@pytest.mark.parametrize("name", ["a_0-0-0_1.csv", "a_b_0-0-0_1.parquet", "a_0-0_1.parquet", "../a_0-0-0_1.parquet", ".a_1.log"])
def test_names_of_other_grammars_are_no_data_files(name: str) -> None:
    assert parse_base_file_name(name) is None
    assert parse_log_file_name(name) is None


@pytest.mark.parametrize("kind", ["log", "deletes", "cdc"])
def test_log_files_of_table_version_10_are_refused_by_name(kind: str) -> None:
    name = f"f-0_0-1-2_20260101000000000_1.{kind}.parquet"
    assert parse_base_file_name(name) is None
    with pytest.raises(UnsupportedError, match=f"{kind}.parquet is a log file of table version 10"):
        parse_log_file_name(name)


@pytest.mark.parametrize("suffix", ["-cdc", ".cdc"])
def test_the_suffix_of_a_change_log_is_kept_apart_and_kept(suffix: str) -> None:
    name = f".f-0_20260101000000000.log.1_0-1-2{suffix}"
    log_file_name = parse_log_file_name(name)
    assert log_file_name == LogFileName("f-0", "20260101000000000", 1, "0-1-2", suffix)
    assert log_file_name.is_cdc
    assert str(log_file_name) == name
