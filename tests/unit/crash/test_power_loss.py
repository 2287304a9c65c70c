"""The power fails after every storage call of a write: deletes not yet on the disk come back, committed rows stay."""

from __future__ import annotations

import pytest

from pyhudi.testing.power_loss import power_losses
from tests.unit.crash.tables import DRIVER, check_at_rest, check_rows, check_sound, stored_table
from tests.unit.crash.test_cut_writes import NEXT, WRITES


@pytest.mark.parametrize("name", ["upsert of old and new rows", "delete of all rows", "overwrite of one partition"])
def test_write_survives_a_power_loss_at_any_call(name) -> None:
    storage, before = stored_table()
    after = before.after(*WRITES[name])
    for what, disk in power_losses(lambda cut: DRIVER.write(cut, *WRITES[name]), storage.copy):
        oracle = after if after.agrees(DRIVER.read(disk)) else before
        check_rows(disk, oracle, what)
        check_sound(disk, what)
        DRIVER.write(disk, *NEXT)
        check_rows(disk, oracle.after(*NEXT), what)
        check_at_rest(disk, what)
