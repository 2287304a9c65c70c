"""Creating a table, cut at every storage call: there is a whole table or none, and creating it again works."""

from __future__ import annotations

import pytest

from pyhudi.errors import TableExists, TableNotFound
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.crash_points import crash_points
from tests.unit.crash.tables import DRIVER, check_at_rest, ride


def test_creation_cut_anywhere_can_be_repeated() -> None:
    for run in crash_points(DRIVER.create, MemoryStorage):
        try:
            assert DRIVER.read(run.storage) == []
        except TableNotFound:
            assert not run.returned, run.point
            DRIVER.create(run.storage)
        else:
            with pytest.raises(TableExists):
                DRIVER.create(run.storage)
        DRIVER.write(run.storage, Operation.INSERT, [ride(1, "oslo", 1)])
        assert DRIVER.read(run.storage) == [ride(1, "oslo", 1)]
        check_at_rest(run.storage, run.point)
