"""What has to be there where a call may find nothing."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def not_none(value: T | None) -> T:
    """Return `value`, which is not None."""
    assert value is not None
    return value
