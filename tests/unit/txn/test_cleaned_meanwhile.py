"""A write whose files are cleaned away between its beginning and its end is a conflict, which is repeated, and no damage of the table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, CorruptTableError
from tests.unit.table.tables import ride, rows_of
from tests.unit.txn.test_optimistic import OCC, RETRIES, beside, check_sound
from tests.unit.txn.test_optimistic import table as table  # noqa: PLC0414 - a fixture

SERVED = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}

WRITES: dict[str, Callable[[HudiTable, dict[str, str]], object]] = {
    "upsert": lambda table, options: table.upsert([ride(2, value=7)], options=options),
    "insert": lambda table, options: table.insert([ride(9, value=7)], options=options),
    "delete": lambda table, options: table.delete(where="id = 2", options=options),
    "update": lambda table, options: table.update({"value": "7"}, where="id = 2", options=options),
}


def rewritten(table: HudiTable) -> Callable[[], None]:
    """Another writer: it rewrites all files while a write is between its beginning and its end, and cleans up."""

    def serve() -> None:
        table.upsert([ride(1, value=20), ride(3, city="rome", value=20)], options=OCC | SERVED)
        table.services.clean(options=OCC | ONE_VERSION)

    return serve


@pytest.mark.parametrize("write", WRITES)
def test_files_that_are_cleaned_meanwhile_are_a_conflict(table: HudiTable, write: str) -> None:
    with pytest.raises(ConflictError, match=r"was cleaned by|completed between reading and writing|completed first"):
        WRITES[write](beside(table, rewritten(table)), OCC)
    assert rows_of(table) == [ride(1, value=20), ride(2), ride(3, city="rome", value=20)]
    check_sound(table)


@pytest.mark.parametrize("write", WRITES)
def test_a_write_whose_files_are_cleaned_is_repeated(table: HudiTable, write: str) -> None:
    WRITES[write](beside(table, rewritten(table)), OCC | {RETRIES: "1"})
    after = {"upsert": [ride(2, value=7)], "update": [ride(2, value=7)], "insert": [ride(2), ride(9, value=7)], "delete": []}
    assert rows_of(table) == sorted([ride(1, value=20), ride(3, city="rome", value=20), *after[write]], key=lambda row: row["id"])
    check_sound(table)


def test_a_file_that_was_lost_is_damage(table: HudiTable) -> None:
    def lose() -> None:
        for path in [one.path for one in table.storage.list("oslo") if one.path.endswith(".parquet")]:
            table.storage.delete(path)

    with pytest.raises(CorruptTableError):
        beside(table, lose).upsert([ride(2, value=7)], options=OCC)
