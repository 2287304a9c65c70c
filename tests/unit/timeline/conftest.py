"""Tables without data, in memory, of both timeline layouts."""

from __future__ import annotations

import pytest

from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.timeline.tables import LAYOUT_1, LAYOUT_2


@pytest.fixture
def layout_1() -> TableConfig:
    return TableConfig(LAYOUT_1)


@pytest.fixture
def layout_2() -> TableConfig:
    return TableConfig(LAYOUT_2)


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage(clock=lambda: 1_796_097_947_825_000_000)  # 2026-12-01 04:05:47.825 UTC
