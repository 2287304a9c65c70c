"""How many crash points and power losses the tests of crashes run: a plugin of pytest that counts them without running them.

    python -m pytest -p tests.unit.crash.count_points --slow -q --tb=no tests/unit/crash

Each action runs once, to learn its calls; the points that its test would run are counted by file and printed at the end. Cuts of recoveries
that begin at such a point are not counted. What the tests say means nothing, since nothing is cut. Power losses are made, because how many
there are is not known before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

import pyhudi.testing.crash_points as crash_points
import tests.unit.crash.tables as tables
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.crash_points import CrashPoint, CrashRun

_GENERATORS: Final = ("crash_points", "cuts", "power_losses")
#: A further module with a generator of its own.
_OWN: Final = "tests.unit.crash.test_cut_metadata_table"
_COUNTS: Final[Counter[tuple[str, str]]] = Counter()


def _not_run(action: object, storage: MemoryStorage, point: CrashPoint) -> CrashRun:
    return CrashRun(point, MemoryStorage(), None)


def _counted(generator: Callable[..., Iterator[object]], name: str, file: str) -> Callable[..., Iterator[object]]:
    def count(*args: Any, **kwargs: Any) -> Iterator[object]:
        for _ in generator(*args, **kwargs):
            _COUNTS[file, name] += 1
        yield from ()

    return count


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests that cut actions, and let them count."""
    modules: dict[str, ModuleType] = {module.__name__: module for item in items if (module := getattr(item, "module", None)) is not None}
    for module in (crash_points, tables, *(module for name, module in modules.items() if name == _OWN)):
        module.run_with_fault = _not_run  # type: ignore[attr-defined]
    cutting = [module for module in modules.values() if any(hasattr(module, one) for one in _GENERATORS)]
    for module in cutting:
        for name in _GENERATORS:
            if hasattr(module, name):
                setattr(module, name, _counted(getattr(module, name), name, Path(module.__file__ or "").name))
    items[:] = [item for item in items if getattr(item, "module", None) in cutting]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was counted."""
    totals = Counter[str]()
    for (file, name), count in sorted(_COUNTS.items()):
        totals[name] += count
        terminalreporter.write_line(f"{count:8,}  {name:13} {file}")
    for name, count in sorted(totals.items()):
        terminalreporter.write_line(f"{count:8,}  {name:13} in all")
