"""Which columns a filter refers to: those whose names its text has are asked, and all of them where that text was cut."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi.kernels.base_file import iter_rows
from pyhudi.kernels.base_file.iter_rows import with_filter_columns

WIDE = pa.schema(
    [
        *((name, pa.string()) for name in ("key", "a", "ab", "true", "in", "it's", "per cent", "é")),
        ("spot", pa.struct([("x", pa.int64()), ("a", pa.int64())])),
        *((f"c{number}", pa.int64()) for number in range(30)),
    ]
)
FILTERS = {
    ("key",): pc.field("key").isin([f"k{number}" for number in range(1000)]),
    ("ab",): pc.field("ab") == "a",
    ("a", "ab"): (pc.field("a") == "ab") | pc.field("ab").is_null(),
    ("true", "in"): (pc.field("true") == "in") & pc.field("in").is_valid(),
    ("it's", "per cent", "é"): (pc.field("it's") == "x") & (pc.field("per cent") == "x") & (pc.field("é") == "y"),
    ("spot",): pc.field("spot", "a") > 1,
    ("c1", "c29"): pc.add(pc.field("c1"), pc.field("c29")) > 5,
    (): pc.scalar(True),
}


@pytest.mark.parametrize("names", FILTERS)
@pytest.mark.parametrize("text", ["whole", "cut"])
def test_columns_of_a_filter_are_added(names: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if text == "cut":
        monkeypatch.setattr(iter_rows, "str", lambda _: "", raising=False)
    assert with_filter_columns(pa.schema([WIDE.field("c2")]), WIDE, FILTERS[names]).names == ["c2", *names]
    assert with_filter_columns(pa.schema([]), WIDE, FILTERS[names]).names == [*names]


def test_columns_that_the_text_does_not_name_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    tables: list[int] = []
    applies = iter_rows._applies

    def counted(filter_: pc.Expression, table: pa.Table) -> bool:
        tables.append(table.num_columns)
        return applies(filter_, table)

    monkeypatch.setattr(iter_rows, "_applies", counted)
    with_filter_columns(pa.schema([WIDE.field("c2")]), WIDE, FILTERS[("key",)])
    assert len(tables) < 6  # of 39 columns
