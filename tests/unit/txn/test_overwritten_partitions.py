"""A write that overwrites partitions leaves no row that others added to them before it completed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyhudi.errors import WriteConflictError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from tests.unit.table.tables import make_table, ride, rows_of

OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
ONCE = OCC | {"hoodie.write.num.retries.on.conflict.failures": "1"}
Overwrite = Callable[[HudiTable, dict[str, str]], object]
NEW = ride(7)
OVERWRITES: dict[str, tuple[Overwrite, list[dict[str, object]]]] = {
    "insert_overwrite": (lambda table, options: table.overwrite([NEW], partitions=["oslo"], options=options), [ride(3, "rome"), NEW]),
    "insert_overwrite_table": (lambda table, options: table.overwrite([NEW], options=options), [NEW]),
    "delete_partition": (lambda table, options: table.delete(partitions=["oslo"], options=options), [ride(3, "rome")]),
}


class Between(InterceptedStorage):
    """Another writer commits when the first one has planned its write."""

    def __init__(self, table: HudiTable, city: str) -> None:
        super().__init__(table.storage)
        self._table, self._city, self._is_next = table, city, True

    def _pass(self, call: Call, effect, torn=None):
        if self._is_next and call.method == "create" and call.path.endswith(".inflight"):
            self._is_next = False
            self._table.bulk_insert([ride(9, self._city)], options=OCC)
        return effect()


@pytest.fixture(params=[(kind, partitions) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for partitions in ("6", "9")], ids=str)
def table(request: pytest.FixtureRequest) -> HudiTable:
    kind, version = request.param
    made = make_table(MemoryStorage(), table_type=kind, partition_by=("city",), options={"hoodie.write.table.version": version})
    made.upsert([ride(1), ride(2), ride(3, "rome")])
    return made


@pytest.mark.parametrize("name", OVERWRITES)
def test_rows_that_others_added_are_a_conflict(name: str, table: HudiTable) -> None:
    overwrite, _ = OVERWRITES[name]
    with pytest.raises(WriteConflictError, match=r"completed first and changed file group .* in 'oslo' too"):
        overwrite(HudiTable(Between(table, "oslo")), OCC)
    assert rows_of(table) == [ride(1), ride(2), ride(3, "rome"), ride(9)]
    assert table.inspect.health().num_rows == 0


@pytest.mark.parametrize("name", OVERWRITES)
def test_the_next_attempt_overwrites_them(name: str, table: HudiTable) -> None:
    overwrite, rows = OVERWRITES[name]
    overwrite(HudiTable(Between(table, "oslo")), ONCE)
    assert rows_of(table) == rows


@pytest.mark.parametrize("name", ["insert_overwrite", "delete_partition"])
def test_rows_of_other_partitions_are_none(name: str, table: HudiTable) -> None:
    overwrite, rows = OVERWRITES[name]
    overwrite(HudiTable(Between(table, "bern")), OCC)
    assert rows_of(table) == [*rows, ride(9, "bern")]


def test_a_new_partition_is_a_conflict_of_the_whole_table(table: HudiTable) -> None:
    overwrite, rows = OVERWRITES["insert_overwrite_table"]
    with pytest.raises(WriteConflictError, match="in 'bern' too"):
        overwrite(HudiTable(Between(table, "bern")), OCC)
    overwrite(HudiTable(Between(table, "bern")), ONCE)
    assert rows_of(table) == rows
