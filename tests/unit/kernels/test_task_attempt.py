"""A task that is begun again writes under the next name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from pyhudi.errors import AlreadyExistsError
from pyhudi.kernels.tasks.task_attempt import reserve_name
from pyhudi.spec.files.marker import MarkerType, marker_path
from pyhudi.storage.memory_storage import MemoryStorage


@dataclass(frozen=True)
class Task:
    instant: str
    write_token: str

    @property
    def path(self) -> str:
        return f"p/a-0_{self.write_token}_{self.instant}.parquet"

    def with_token(self, write_token: str) -> Task:
        return replace(self, write_token=write_token)


TASK = Task("20260101000000000", "7-0-0")


def test_first_attempt_has_its_own_name_and_marker() -> None:
    storage = MemoryStorage()
    assert reserve_name(storage, TASK, MarkerType.MERGE) == TASK
    assert storage.stat(marker_path(TASK.instant, TASK.path, MarkerType.MERGE)) is not None


def test_each_further_attempt_takes_the_next_number() -> None:
    storage = MemoryStorage()
    tokens = [reserve_name(storage, TASK, MarkerType.MERGE).write_token for _ in range(3)]
    assert tokens == ["7-0-0", "7-0-1", "7-0-2"]


def test_task_that_is_begun_for_ever_is_given_up() -> None:
    storage = MemoryStorage()
    for _ in range(100):
        reserve_name(storage, TASK, MarkerType.MERGE)
    with pytest.raises(AlreadyExistsError, match="begun 100 times"):
        reserve_name(storage, TASK, MarkerType.MERGE)
