"""Measurements, their ratios to the floors, and how both are shown."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: (workload, method, contestant, floor, goal): the goals of issue 1, as ratios to the floor or as seconds (floor None).
GOALS = (
    ("W1 load, local", "load", "pyhudi_local", "floor", 1.5),
    ("W1 load, Spark", "load", "pyhudi_spark", "spark_parquet", 1.0),
    ("W2 upsert, local", "upsert", "pyhudi_local", "floor", 2.0),
    ("W2 upsert, Spark", "upsert", "pyhudi_spark", "floor", 4.0),
    ("W5 three sums, local", "sums", "pyhudi_local", "floor", 1.1),
    ("W5 every row, local", "scan", "pyhudi_local", "floor", 1.1),
    ("W5 count, Spark", "count", "pyhudi_spark", "spark_raw", 1.05),
    ("W5 three sums, Spark", "sums", "pyhudi_spark", "spark_raw", 1.05),
    ("W5 every row, Spark", "scan", "pyhudi_spark", "spark_raw", 1.05),
    ("W10 ten rows, local", "commit10", "pyhudi_local", None, 0.030),
    ("W10 INSERT of ten rows, Spark", "commit10", "pyhudi_spark", None, 0.25),
)


@dataclass
class Measurement:
    """The times of one method of one contestant, in seconds, in the order of the repetitions."""

    contestant: str
    method: str
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Median in seconds; not a number when every repetition failed."""
        return statistics.median(self.seconds) if self.seconds else float("nan")


def environment(rows: int) -> dict[str, str]:
    """Return what a reader must know of the machine and the versions."""
    packages = ("pyhudi", "pyspark", "pyarrow", "deltalake")
    versions = {name: importlib.metadata.version(name) for name in packages if _installed(name)}
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "rows": f"{rows:,}",
        **versions,
    }


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def to_json(measured: Sequence[Measurement], facts: Mapping[str, str]) -> str:
    """Return everything measured, for programs."""
    rows = [{"contestant": m.contestant, "method": m.method, "seconds": m.seconds, "errors": m.errors} for m in measured]
    return json.dumps({"environment": dict(facts), "measurements": rows}, indent=1)


def to_markdown(measured: Sequence[Measurement], facts: Mapping[str, str]) -> str:
    """Return the page: goals with their ratios, then every time."""
    lines = ["# Benchmarks", "", "Made by `make bench`. " + ", ".join(f"{key} {value}" for key, value in facts.items()) + ".", ""]
    lines += ["All contestants ran in rotation in one run; a ratio compares medians of that run. A goal that was missed says so.", ""]
    lines += ["## Goals", "", "| workload | floor (s) | pyhudi (s) | ratio or seconds | goal | |", "| --- | --- | --- | --- | --- | --- |"]
    for goal in GOALS:
        lines.append(_goal_row(goal, measured))
    lines += ["", "## Every time", "", "| contestant | method | median (s) | min | max | runs |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [_time_row(m) for m in measured]
    return "\n".join(lines) + "\n"


def _goal_row(goal: tuple[str, str, str, str | None, float], measured: Sequence[Measurement]) -> str:
    workload, method, name, floor_name, target = goal
    ours = _lane_pair(measured, method, name, floor_name)
    if ours is None:
        return f"| {workload} | | | not measured | {target:g} | |"
    mine, floor = ours
    value = mine.median if floor is None else mine.median / floor.median
    unit = " s" if floor is None else "x"
    verdict = "reached" if value <= target else f"not reached: {value:.2f} instead of {target:g}"
    floor_text = "" if floor is None else f"{floor.median:.3f}"
    return f"| {workload} | {floor_text} | {mine.median:.3f} | {value:.3g}{unit} | {target:g}{unit} | {verdict} |"


def _lane_pair(
    measured: Sequence[Measurement], method: str, name: str, floor_name: str | None
) -> tuple[Measurement, Measurement | None] | None:
    """Return our measurement and its floor from the same rotation (the floor nearest before it in the list of that lane)."""
    mine = next((m for m in measured if m.contestant == name and m.method == method and m.seconds), None)
    if mine is None:
        return None
    if floor_name is None:
        return mine, None
    floors = [m for m in measured if m.contestant == floor_name and m.method == method and m.seconds]
    if not floors:
        return None
    position = list(measured).index(mine)
    return mine, min(floors, key=lambda m: abs(list(measured).index(m) - position))


def _time_row(m: Measurement) -> str:
    if not m.seconds:
        return f"| {m.contestant} | {m.method} | failed | | | {len(m.errors)} |"
    return f"| {m.contestant} | {m.method} | {m.median:.3f} | {min(m.seconds):.3f} | {max(m.seconds):.3f} | {len(m.seconds)} |"
