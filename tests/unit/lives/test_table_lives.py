"""Tables of random kinds that live through random steps; `python -m scripts.live_tables` takes as many as one likes."""

from __future__ import annotations

import pytest

from tests.unit.lives.life_steps import live, upsert
from tests.unit.lives.table_life import TableLife

STEPS = 12


@pytest.mark.parametrize("seed", range(3))
def test_a_table_of_any_kind_holds_the_rows_of_its_model(seed: int) -> None:
    life = live(seed, STEPS)
    assert life.refused < STEPS / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_a_table_of_any_kind_holds_the_rows_of_its_model_for_long(seed: int) -> None:
    life = live(seed, 40)
    assert life.refused < len(life.steps) / 2


def test_a_row_that_the_model_lacks_is_noticed() -> None:
    life = TableLife(0)
    life.take("upsert", upsert)
    life.rows.popitem()
    with pytest.raises(AssertionError, match="rows differ after"):
        life.check(life.table)
    life.storage.drop()
