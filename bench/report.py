"""Measurements, their ratios to the floors, and how both are shown."""

from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    """What a contestant shall reach in a lane: seconds at most, or a ratio to the time of `floor` in the same rotation."""

    workload: str
    lane: str
    label: str
    contestant: str
    floor: str | None
    target: float


GOALS = (
    Goal("W1 load, local", "local", "load", "pyhudi_local", "floor", 1.5),
    Goal("W1 load, Spark", "spark", "load", "pyhudi_spark", "spark_parquet", 1.0),
    Goal("W2 upsert, local", "local", "upsert", "pyhudi_local", "floor", 1.5),
    Goal("W2 upsert, Spark", "spark", "upsert", "pyhudi_spark", "floor", 3.0),
    Goal("W2 upsert, Spark, of Apache Hudi", "hudi", "upsert", "pyhudi_spark", "hudi_jvm", 1 / 15),
    Goal("W4 upsert into log files, local", "local-mor", "upsert", "pyhudi_local_mor", "floor_mor", 2.0),
    Goal("W4 rounds 4 to 10, local", "local-mor", "upsert 4-10", "pyhudi_local_mor", "floor_mor", 2.0),
    Goal("W4 upsert, Spark, of Apache Hudi", "hudi-mor", "upsert", "pyhudi_spark_mor", "hudi_jvm_mor", 1 / 10),
    Goal("W5 three sums, local", "local", "sums", "pyhudi_local", "floor", 1.1),
    Goal("W5 every row, local", "local", "scan", "pyhudi_local", "floor", 1.1),
    Goal("W5 count, Spark", "spark", "count", "pyhudi_spark", "spark_raw", 1.05),
    Goal("W5 three sums, Spark", "spark", "sums", "pyhudi_spark", "spark_raw", 1.05),
    Goal("W5 every row, Spark", "spark", "scan", "pyhudi_spark", "spark_raw", 1.05),
    *(
        Goal(f"W5 {what} after {rounds} rounds, {where}, of our copy-on-write", f"{where.lower()}-mor", label, f"{name}_mor", name, 1.5)
        for where, name in (("local", "pyhudi_local"), ("Spark", "pyhudi_spark"))
        for rounds, suffix in ((3, ""), (10, " 10"))
        for what, label in (("count", f"count{suffix}"), ("three sums", f"sums{suffix}"), ("every row", f"scan{suffix}"))
    ),
    Goal("W7 compaction, local", "local-mor", "compact", "pyhudi_local_mor", "floor_mor", 1.5),
    Goal("W7 compaction, Spark", "spark-mor", "compact", "pyhudi_spark_mor", "floor_mor", 3.0),
    *(
        Goal(f"{what} of 20 M narrow rows, local, of deltalake", "narrow", label, "pyhudi_narrow", "deltalake_narrow", 0.8)
        for what, label in (
            ("load", "load"),
            ("replace of one row", "one"),
            ("replace of 2 M", "tenth"),
            ("delete of 20,000 by condition", "delete"),
        )
    ),
    Goal("W10 ten rows, local", "local", "commit10", "pyhudi_local", None, 0.030),
    Goal("W10 INSERT of ten rows, Spark", "spark", "commit10", "pyhudi_spark", None, 0.25),
)


@dataclass
class Measurement:
    """The times of one step of one contestant, in seconds, in the order of the repetitions, and the day of the run."""

    lane: str
    contestant: str
    label: str
    date: str
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
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "rows": f"{rows:,}",
        **versions,
    }


def today() -> str:
    """Return the date of a run that begins now."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def to_json(measured: Sequence[Measurement], facts: Mapping[str, str]) -> str:
    """Return everything measured, for programs."""
    return json.dumps({"environment": dict(facts), "measurements": [dataclasses.asdict(m) for m in measured]}, indent=1)


def from_json(text: str, facts: Mapping[str, str]) -> list[Measurement]:
    """Return what `to_json` was given; nothing of tables of other sizes."""
    stored = json.loads(text)
    return [Measurement(**one) for one in stored["measurements"]] if stored["environment"]["rows"] == facts["rows"] else []


def to_markdown(measured: Sequence[Measurement], facts: Mapping[str, str]) -> str:
    """Return the page: goals with their ratios, then every time."""
    lines = ["# Benchmarks", "", "Made by `make bench`. " + ", ".join(f"{key} {value}" for key, value in facts.items()) + ".", ""]
    lines += [
        "The contestants of a lane ran in rotation in one run; a ratio compares their medians. A goal that was missed says so.",
        "",
    ]
    lines += ["Days of the runs: " + ", ".join(f"{lane} {date}" for lane, date in {m.lane: m.date for m in measured}.items()) + ".", ""]
    lines += ["## Goals", "", "| workload | floor (s) | pyhudi (s) | ratio or seconds | goal | |", "| --- | --- | --- | --- | --- | --- |"]
    for goal in GOALS:
        lines.append(_goal_row(goal, measured))
    lines += [
        "",
        "## Every time",
        "",
        "| lane | contestant | step | median (s) | min | max | runs |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_time_row(m) for m in measured]
    return "\n".join(lines) + "\n"


def _goal_row(goal: Goal, measured: Sequence[Measurement]) -> str:
    times = {(m.contestant, m.label): m for m in measured if m.lane == goal.lane and m.seconds}
    mine = times.get((goal.contestant, goal.label))
    floor = times.get((goal.floor, goal.label)) if goal.floor else None
    unit = " s" if goal.floor is None else "x"
    if mine is None or (goal.floor and floor is None):
        return f"| {goal.workload} | | | not measured | {goal.target:.3g}{unit} | |"
    value = mine.median if floor is None else mine.median / floor.median
    verdict = "reached" if value <= goal.target else f"not reached: {value:.2f} instead of {goal.target:.3g}"
    floor_text = "" if floor is None else f"{floor.median:.3f}"
    return f"| {goal.workload} | {floor_text} | {mine.median:.3f} | {value:.3g}{unit} | {goal.target:.3g}{unit} | {verdict} |"


def _time_row(m: Measurement) -> str:
    if not m.seconds:
        return f"| {m.lane} | {m.contestant} | {m.label} | failed | | | {len(m.errors)} |"
    times = f"{m.median:.3f} | {min(m.seconds):.3f} | {max(m.seconds):.3f} | {len(m.seconds)}"
    return f"| {m.lane} | {m.contestant} | {m.label} | {times} |"
