"""The code of `bench/newcomer.py` runs, and what docs/benchmarks.md shows of it is that list of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.newcomer import LIBRARIES, PYHUDI, TASKS, Newcomer, lines

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def test_every_task_runs_in_the_order_of_the_list(tmp_path: Path) -> None:
    newcomer = Newcomer("pyhudi", tmp_path, 300)
    for task in TASKS:
        result = newcomer.run(task)
        assert isinstance(result, tuple), f"{task}: {result}"


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_library_answers_each_task(library: str) -> None:
    assert set(LIBRARIES[library]) == set(TASKS)


def test_no_task_takes_more_lines_than_in_another_library() -> None:
    for task in TASKS:
        code = PYHUDI[task]
        assert code is not None
        others = [lines(other) for tasks in LIBRARIES.values() if (other := tasks[task]) is not None]
        assert lines(code) <= min(others), task


def test_the_page_shows_the_tasks() -> None:
    page = PAGE.read_text("utf-8")
    assert all(f"\n| {task} |" in page for task in TASKS)
