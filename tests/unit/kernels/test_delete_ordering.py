"""Ordering values of delete blocks come back from disk as values of their columns."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.codec.log.log_content import decode_deletes, encode_deletes
from pyhudi.kernels.log_file.delete_ordering import delete_ordering
from pyhudi.kernels.log_file.ordering_types import ordering_types
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys

TIME = dt.datetime(2026, 1, 2, 3, 4, 5, 678901, dt.UTC)
COLUMNS = [
    (pa.int32(), [5, -7]),
    (pa.int64(), [2**40, 0]),
    (pa.float32(), [1.5, -0.5]),
    (pa.float64(), [0.1, -0.1]),
    (pa.bool_(), [True, False]),
    (pa.string(), ["é", ""]),
    (pa.binary(), [b"\xff", b""]),
    (pa.date32(), [dt.date(2026, 1, 2), dt.date(1960, 1, 1)]),
    (pa.timestamp("us", "UTC"), [TIME, TIME.replace(year=1960)]),
    (pa.timestamp("us"), [TIME.replace(tzinfo=None), TIME.replace(tzinfo=None, year=1960)]),
    (pa.decimal128(10, 2), [Decimal("12.34"), Decimal("-99999999.99")]),
    (pa.decimal128(38, 15), [Decimal("1e20"), Decimal("-1e20")]),
]


def through_disk(kinds: list[pa.DataType], values: list[Any]) -> tuple[dict[str, pa.Array], list[bool]]:
    names = tuple(f"o{index}" for index in range(len(kinds)))
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    context = SimpleNamespace(schema=schema, ordering_fields=names, compared_fields=names)
    deleted = DeletedKeys(("k",) * len(values), ("",) * len(values), tuple(values))
    columns, hard = delete_ordering(decode_deletes(encode_deletes(deleted, ordering_types(context))).ordering, context)  # type: ignore[arg-type]
    return columns, hard.tolist()


@pytest.mark.parametrize(("kind", "values"), COLUMNS, ids=[str(kind) for kind, _ in COLUMNS])
def test_values_of_a_column_come_back(kind: pa.DataType, values: list[Any]) -> None:
    columns, hard = through_disk([kind], values)
    assert columns["o0"].to_pylist() == pa.array(values, kind).to_pylist()
    assert columns["o0"].type == kind
    assert hard == [False, False]


@pytest.mark.parametrize(("kind", "values"), COLUMNS, ids=[str(kind) for kind, _ in COLUMNS])
def test_null_comes_back_as_the_least_and_not_as_a_delete_by_commit_time(kind: pa.DataType, values: list[Any]) -> None:
    columns, hard = through_disk([kind], [None, values[0], COMMIT_TIME_DELETE])
    assert hard == [False, False, True]
    assert columns["o0"][0].as_py() in (None, False, "", b"", -(2**31), -(2**63), float("-inf"), Decimal(1 - 10**23))


def test_several_fields_come_back() -> None:
    kinds = [pa.int32(), pa.date32(), pa.timestamp("us", "UTC"), pa.decimal128(10, 2)]
    value = (5, dt.date(2026, 1, 2), TIME, Decimal("1.50"))
    columns, hard = through_disk(kinds, [value, (5, value[1], TIME, None), COMMIT_TIME_DELETE])
    assert [columns[f"o{index}"][0].as_py() for index in range(4)] == list(value)
    assert columns["o3"][1].as_py() is None
    assert hard == [False, False, True]
