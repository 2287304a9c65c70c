"""Values of a parametrized test of which only the long proofs take some."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def long_proofs(values: Iterable[Any], long: Collection[Any]) -> list[Any]:
    """Return the values for `parametrize`, those in `long` marked `thorough`.

    Example:
        pytest.mark.parametrize("name", long_proofs(TABLES, {"version 8"}))
    """
    return [pytest.param(value, marks=pytest.mark.thorough if value in long else ()) for value in values]
