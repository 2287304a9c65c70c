"""Values of a parametrized test of which only the long proofs take some."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_cases(values: Iterable[Any], long: Collection[Any]) -> list[Any]:
    """Return the values for `parametrize`, those in `long` marked `slow`.

    Example:
        pytest.mark.parametrize("name", slow_cases(TABLES, {"version 8"}))
    """
    return [pytest.param(value, marks=pytest.mark.slow if value in long else ()) for value in values]
