"""Restores of several threads at a time, and readers beside them: one restores, the others wait or are refused, and all see one state."""

from __future__ import annotations

import threading

from pyhudi import HudiTable
from pyhudi.errors import HudiError
from pyhudi.storage.open_storage import open_storage
from tests.unit.table.tables import make_table, ride, rows_of


def test_readers_beside_a_restore_see_all_of_one_state(tmp_path) -> None:
    table = make_table(open_storage(tmp_path / "t"), partition_by=["city"])
    cities = ["oslo", "rome", "bern", "lima"]
    table.upsert([ride(number, city) for number, city in enumerate(cities)])
    saved = table.services.savepoint()
    for value in (1, 2, 3):
        for number, city in enumerate(cities):
            table.upsert([ride(number, city, value)])
    states: set[tuple[int, ...]] = set()
    errors: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                states.add(tuple(row["value"] for row in rows_of(HudiTable.open(tmp_path / "t"))))
            except HudiError as error:
                errors.append(str(error))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    HudiTable.open(tmp_path / "t").services.restore(to=saved.instant)
    done.set()
    for reader in readers:
        reader.join()
    states.add(tuple(row["value"] for row in rows_of(HudiTable.open(tmp_path / "t"))))
    assert states <= {(3, 3, 3, 3), (0, 0, 0, 0)}
    assert (0, 0, 0, 0) in states
    assert [error for error in errors if "then read again" not in error] == []
