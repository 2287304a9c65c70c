"""History of a table: the Arrow table and everything that reads one, at a prompt, in a notebook."""

from __future__ import annotations

import copy
import pickle

import polars as pl
import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.inspect.action_history import History


@pytest.fixture
def table() -> HudiTable:
    schema = pa.schema({"id": pa.int64()})
    table = HudiTable.create(MemoryStorage().uri, schema, name="trips", keys=["id"])
    table.insert([{"id": 1}])
    table.upsert([{"id": 1}])
    return table


def test_a_history_is_read_as_the_arrow_table_that_it_has(table: HudiTable) -> None:
    history = table.history()
    assert isinstance(history.rows, pa.Table)
    assert history.num_rows == len(history) == 2
    assert history["operation"].to_pylist() == history.column("operation").to_pylist() == ["INSERT", "UPSERT"]
    assert pa.table(history) == history.rows
    assert pl.DataFrame(history)["inserted"].to_list() == [1, 0]
    assert history.to_pandas().shape == (2, 12)
    assert history == table.history()
    assert history.equals(table.history())
    assert history.equals(history.rows)
    assert not history.equals(table.history().slice(1))
    assert not history.equals("2 actions")
    assert pickle.loads(pickle.dumps(history)) == copy.copy(history) == history
    with pytest.raises(AttributeError, match="actions"):
        _ = history.actions


def test_a_prompt_and_a_notebook_show_each_action(table: HudiTable) -> None:
    history = table.history()
    first, _, insert, upsert = repr(history).splitlines()
    assert first == "2 actions"
    assert insert.split()[1:] == ["commit", "INSERT", "completed", "1", "0", "0"]
    assert upsert.split()[0] == history["requested"][1].as_py()
    assert max(map(len, repr(history).splitlines())) <= 80
    html = history._repr_html_()
    assert html.count("<tr>") == 3
    assert "UPSERT</td>" in html
    assert 'style="text-align:left">operation</th>' in html


def test_only_the_latest_actions_are_shown(table: HudiTable) -> None:
    rows = pa.concat_tables([table.history().rows] * 15)
    assert repr(History(rows)).startswith("30 actions, the latest 20\n")
    assert History(rows)._repr_html_().count("<tr>") == 21
    assert repr(History(rows.slice(0, 0))) == "0 actions"
    row = rows.slice(0, 1).set_column(0, "action", [["<script>"]])
    assert "<script>" not in History(row)._repr_html_()
    assert repr(History(row)).startswith("1 action\n")
