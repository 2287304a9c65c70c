"""A handle that was opened before another one changed the whole table: it reads what the table is now, and writes to that or is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyhudi.errors import ConflictError, CorruptTableError, HudiError, TableNotFound
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.slow_cases import slow_cases
from tests.unit.table.tables import make_table, ride, rows_of

OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
SMALL = {"hoodie.parquet.small.file.limit": "0"}
CLUSTER = {"hoodie.clustering.inline.max.commits": "1"}


def filled(kind: str, version: str) -> HudiTable:
    table = make_table(MemoryStorage(), table_type=kind, partition_by=("city",), options={"hoodie.write.table.version": version})
    for number in range(3):
        table.upsert([ride(number), ride(number + 5, city="rome")], options=SMALL)
    return table


def create_again(table: HudiTable) -> None:
    for status in table.storage.list(""):
        table.storage.delete_tree(status.path) if status.is_dir else table.storage.delete(status.path)
    make_table(table.storage, table_type=table.config.table_type, partition_by=("city",)).upsert([ride(9)])


CHANGES: dict[str, Callable[[HudiTable], object]] = {
    "upgrade": lambda table: table.services.upgrade(9),
    "downgrade": lambda table: table.services.downgrade(6),
    "restore": lambda table: table.services.restore(min(table.history()["requested"].to_pylist())),
    "cluster": lambda table: table.services.cluster(options=CLUSTER),
    "overwrite": lambda table: table.overwrite([ride(8)]),
    "create again": create_again,
}
KINDS = ["MERGE_ON_READ", "COPY_ON_WRITE"]


@pytest.mark.parametrize("mode", slow_cases([OCC, {}], [{}]), ids=["several", "alone"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", slow_cases(KINDS, KINDS[1:]))
def test_handle_that_was_opened_before(change: str, kind: str, mode: dict[str, str]) -> None:
    table = filled(kind, "8" if change == "upgrade" else "9")
    stale, batches = HudiTable(table.storage), HudiTable(table.storage).to_batches()
    before = rows_of(stale)
    CHANGES[change](HudiTable(table.storage))
    expected = rows_of(HudiTable(table.storage))
    assert rows_of(stale) == expected
    if change in ("upgrade", "downgrade"):
        with pytest.raises(ConflictError, match="was moved from version"):
            stale.upsert([ride(19, value=7)], options=mode)
    else:
        stale.upsert([ride(19, value=7)], options=mode)
        expected = [*expected, ride(19, value=7)]
    fresh = HudiTable(table.storage)
    assert rows_of(fresh) == expected
    assert fresh.inspect.health().num_rows == 0
    if change in ("restore", "create again"):  # whose files are not there any more
        with pytest.raises(CorruptTableError, match="belongs to"):
            list(batches)
    else:
        assert sum(batch.num_rows for batch in batches) == len(before)


def test_handle_of_a_table_that_was_dropped() -> None:
    table = filled("COPY_ON_WRITE", "9")
    stale = HudiTable(table.storage)
    for status in table.storage.list(""):
        table.storage.delete_tree(status.path) if status.is_dir else table.storage.delete(status.path)
    actions: list[Callable[[], object]] = [stale.to_arrow, lambda: stale.upsert([ride(1)]), stale.services.clean]
    for act in actions:
        with pytest.raises(TableNotFound):
            act()
    with pytest.raises(HudiError):
        stale.history()
    assert table.storage.stat(".hoodie/timeline") is None
