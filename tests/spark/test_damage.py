"""A sample of the damage harness (`tests/damage`), read by Spark: right rows, or a typed error that names the file, else it is counted."""

from __future__ import annotations

import logging
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.storage.memory_storage import MemoryStorage
from tests.damage.kinds import damage
from tests.damage.reference import NAMED, RIGHT, TYPED, WRONG, Case, cases, is_named
from tests.damage.tables import TABLES, Rows, Sound, made
from tests.unit.table.tables import files_of

pytestmark = pytest.mark.spark

_MUTATIONS = 40
_SLOW_MUTATIONS = int(os.environ.get("PYHUDI_SPARK_MUTATIONS", "400"))


def _frame(spark: SparkSession, path: Path, sound: Sound, **more: str) -> DataFrame:
    options = {key: value for key, value in sound.options.items() if key.startswith("hoodie.metadata")}
    return spark.read.format("hudi").options(**options, **more).load(str(path))


def _rows(frame: DataFrame) -> Rows:
    data = frame.drop(*(name for name in frame.columns if name.startswith("_hoodie"))).collect()
    return sorted(tuple(row) for row in data)


QUESTIONS: dict[str, Callable[[SparkSession, Path, Sound], Rows]] = {
    "snapshot": lambda spark, path, sound: _rows(_frame(spark, path, sound)),
    "count": lambda spark, path, sound: [(_frame(spark, path, sound).count(),)],
    "filter": lambda spark, path, sound: _rows(_frame(spark, path, sound).where("id = 5 or value > 100")),
    "time travel": lambda spark, path, sound: _rows(_frame(spark, path, sound, **{"as.of.instant": sound.times[0]})),
}


@pytest.fixture(scope="module")
def sound() -> Iterator[dict[str, Sound]]:
    logging.disable(logging.CRITICAL)
    yield {name: made(name) for name in TABLES}
    logging.disable(logging.NOTSET)


def _stored(storage: MemoryStorage, folder: Path) -> Path:
    for name in files_of(storage):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(storage.read(name))
    return folder


def _verdict(spark: SparkSession, folder: Path, sound: Sound, case: Case) -> str:
    damaged = damage(sound.storage, case.path, case.way, random.Random(case.seed))
    path = _stored(damaged, folder)
    damaged.drop()
    try:
        answer = QUESTIONS[case.question](spark, path, sound)
    except HudiError as error:
        return NAMED if is_named(case.path, str(error)) else TYPED
    return RIGHT if answer == sound.answers[case.question] else WRONG


def _check(spark: SparkSession, tables: dict[str, Sound], folder: Path, count: int, seed: int) -> None:
    results: Counter[str] = Counter()
    unnoticed = []
    selected = (case for case in cases(tables, 3 * count, seed) if case.question in QUESTIONS)
    for number, case in zip(range(count), selected, strict=False):
        result = _verdict(spark, folder / str(number), tables[case.table], case)
        results[result] += 1
        if result == WRONG and case.kind != "instant":
            unnoticed.append(case)
    assert unnoticed == []
    assert results.total() == count
    assert results[RIGHT] > count / 5
    assert results[NAMED] > count / 10
    assert results[TYPED] + results[WRONG] <= count / 20, results


def test_sample_of_mutations(spark: SparkSession, sound: dict[str, Sound], tmp_path: Path) -> None:
    _check(spark, sound, tmp_path, _MUTATIONS, 3)


@pytest.mark.slow
def test_hundreds_of_mutations(spark: SparkSession, sound: dict[str, Sound], tmp_path: Path) -> None:
    _check(spark, sound, tmp_path, _SLOW_MUTATIONS, 4)


def test_named_pipe_in_place_of_a_base_file_is_refused_before_spark_opens_it(
    spark: SparkSession, sound: dict[str, Sound], tmp_path: Path
) -> None:
    path = _stored(sound["cow-9"].storage, tmp_path / "t")
    file = max((path / "oslo").glob("*.parquet"), key=lambda one: one.name.rpartition("_")[2])
    file.unlink()
    os.mkfifo(file)
    for read in (lambda: spark.read.format("hudi").load(str(path)).count(), lambda: spark.sql(f"SELECT * FROM hudi.`{path}`").collect()):
        with pytest.raises(CorruptTableError, match=f"{file.name}' of table .* is a named pipe"):
            read()
