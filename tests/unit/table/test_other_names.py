"""What users of other libraries type first is an error that names the right call."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import pyhudi
from pyhudi import HudiTable, MergeBuilder, TableScan
from pyhudi.errors import OptionError, UsageError
from pyhudi.table.inspect.inspect_table import Inspect
from pyhudi.table.scan.other_names import OF_MERGE, OF_PACKAGE, OF_SCAN, OF_TABLE
from pyhudi.table.table_services import Services

ROWS = pa.table({"id": [1, 2], "city": ["oslo", "rome"]})
#: Calls in an advice that are those of other libraries.
_OF_OTHERS = frozenset({"alias", "describe", "filter", "len", "select", "sql", "str", "to_pylist"})


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    table = HudiTable.create(tmp_path / "trips", ROWS.schema, name="trips", keys=["id"])
    table.insert(ROWS)
    return table


@pytest.mark.parametrize(("owner", "names"), [(HudiTable, OF_TABLE), (MergeBuilder, OF_MERGE), (TableScan, OF_SCAN), (pyhudi, OF_PACKAGE)])
def test_advised_names_do_not_exist_and_what_is_advised_does(owner: object, names: dict[str, str]) -> None:
    assert [name for name in names if name in dir(owner)] == []
    exist = {name for one in (HudiTable, MergeBuilder, TableScan, Services, Inspect) for name in dir(one)}
    named = {call for advice in names.values() for call in re.findall(r"(\w+)\(", advice)}
    assert named - exist <= _OF_OTHERS


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda table: table.version, r"no 'version': history\(\) lists the commits"),
        (lambda table: table.files(), r"inspect\.files\(\)"),
        (lambda table: table.to_pyarrow_table(), r"to_arrow\(\) returns an Arrow table"),
        (lambda table: table.merge(ROWS).when_matched_update_all(), r"when_matched_update\(\) without values"),
        (lambda table: table.scan().collect(), r"to_arrow\(\) reads the rows"),
        (lambda table: table.histroy(), r"HudiTable has no 'histroy'$"),
        (lambda _: pyhudi.read_table("x"), r"HudiTable\.open\(path\)\.to_arrow\(\)"),
        (lambda _: pyhudi.nothing, "no attribute 'nothing'$"),
    ],
)
def test_unknown_name_says_what_does_that(table: HudiTable, call: Callable[[HudiTable], object], says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        call(table)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda table: table.to_pandas(columns=["id"], filters=[("id", "=", 1)]), r"to_pandas\(\) has no argument 'filters': .*filter='"),
        (lambda table: table.to_arrow(limit=1), r"head\(n\)"),
        (lambda table: table.scan(version=0), "as_of=<instant or time>"),
        (lambda table: table.delete(predicate="id = 1"), "where='"),
        (lambda table: table.delete(keys=[1, 2]), r"records are chosen by where='id IN \(1, 2\)'"),
        (lambda table: table.upsert(rows=[{"id": 1}]), r"the rows are data=\.\.\."),
        (lambda table: table.bulk_insert(ROWS, keys=["id"]), r"has no argument 'keys': the table has its key"),
        (lambda table: table.insert(ROWS, mode="append"), r"upsert\(data\) replaces"),
        (lambda table: table.update(updates={"city": "'x'"}), r"set=\{'column': '<expression>'\}"),
        (lambda table: table.merge(ROWS, predicate="s.id = t.id"), "on='id'"),
        (lambda table: table.merge(ROWS, source_alias="s"), r"source\.column"),
        (lambda table: table.restore(version=1), "to=<instant>"),
        (lambda table: table.alter(columns={}), r"add=\{'name': pyarrow\.float64\(\)\}"),
        (lambda table: table.count(nothing=1), "unexpected keyword argument 'nothing'"),
        (lambda table: table["city"], r"no items such as \['city'\]: to_arrow\(columns"),
        (lambda table: table.merge(ROWS, options={}), r"given to its end, execute\(options=\.\.\.\)"),
        (list, r"cannot be iterated: to_arrow\(\)\.to_pylist\(\)"),
        (lambda table: table.__enter__(), "each call is a transaction"),
    ],
)
def test_call_of_another_library_says_what_the_call_is_here(table: HudiTable, call: Callable[[HudiTable], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        call(table)
    assert table.count() == 2


def test_condition_and_result_in_place_of_others_are_named(table: HudiTable) -> None:
    with pytest.raises(UsageError, match=r"no file 'id = 1'.* A condition is where='"):
        table.delete("id = 1")
    with pytest.raises(UsageError, match="a list of int; a list of rows holds dicts"):
        table.delete([1, 2])
    result = table.upsert(ROWS)
    for call in (table.restore, table.savepoint, table.services.restore):
        with pytest.raises(OptionError, match=rf"give '{result.instant}', which is its attribute instant"):
            call(result)  # type: ignore[arg-type]
    polars = pytest.importorskip("polars")
    with pytest.raises(UsageError, match=r"scan\(\)\.to_polars\(\)\.filter"):
        table.to_arrow(filter=polars.col("id") == 1)


def test_protocols_of_python_and_other_libraries_are_not_disturbed(table: HudiTable) -> None:
    assert pickle.loads(pickle.dumps(table)).count() == copy.copy(table).count() == 2
    assert pa.table(table).num_rows == 2
    assert not hasattr(table, "_repr_mimebundle_")
    duckdb, trips = pytest.importorskip("duckdb"), table
    assert duckdb.sql("SELECT count(*) FROM trips").fetchall() == [(trips.count(),)]


def test_history_has_a_limit(table: HudiTable) -> None:
    table.upsert(ROWS)
    actions = table.history()["requested"].to_pylist()
    assert table.history(limit=1)["requested"].to_pylist() == actions[-1:]
    assert table.history(100)["requested"].to_pylist() == actions
    assert table.history(0).num_rows == 0
    with pytest.raises(OptionError, match="limit is -1"):
        table.history(-1)


def test_services_and_inspection_have_short_texts(table: HudiTable) -> None:
    assert repr(table.services) == f"<services of table {table.storage.uri}>"
    assert repr(table.inspect) == f"<inspection of table {table.storage.uri}>"
