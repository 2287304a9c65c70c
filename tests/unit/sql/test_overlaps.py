"""How many ranges of values cover each value."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.sql.call.overlap_procedure import overlaps


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([(1, 5), (3, 7), (7, 8)], [1, 1, 2, 2, 2]),
        ([(1, 1)], [1]),
        ([(1, 1), (1, 1), (1, 2)], [1, 3]),
        ([("a", "c"), ("d", "e")], [1, 1, 1, 1]),
    ],
)
def test_ranges_that_share_a_value_are_counted_where_they_do(bounds: list[tuple[Any, Any]], expected: list[int]) -> None:
    assert overlaps(bounds) == expected
