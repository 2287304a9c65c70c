"""Whatever is written, deleted, compacted, split and merged in whatever order: the rows are those of the oracle, each in its bucket."""

from __future__ import annotations

import random

import pytest

from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import check_at_rest, check_rows, ride
from tests.unit.crash.test_cut_clustering import DRIVER, OF_VERSION_6, WITH_METADATA, check_places, services

SPLIT = {"hoodie.bucket.index.max.num.buckets": "6", "hoodie.parquet.max.file.size": "1"}
MERGE = {"hoodie.bucket.index.min.num.buckets": "1", "hoodie.clustering.plan.strategy.max.num.groups": "1"}
STEPS = ("upsert", "upsert", "delete", "split", "merge", "compact")


def play(seed: int, steps: int) -> None:
    chance = random.Random(seed)
    driver = chance.choice((DRIVER, OF_VERSION_6, WITH_METADATA))
    storage, oracle, values = MemoryStorage(), Oracle("id", "city"), iter(range(10_000))
    driver.create(storage)
    for step in range(steps):
        match chance.choice(STEPS) if step else "upsert":
            case "split":
                services(storage).cluster(options={**SPLIT, "hoodie.bucket.index.max.num.buckets": str(chance.randint(2, 6))})
            case "merge":
                services(storage).cluster(options=MERGE)
            case "compact":
                services(storage).compact()
            case kind:
                operation = Operation.UPSERT if kind == "upsert" else Operation.DELETE
                cities = {number: chance.choice(("oslo", "rome")) for number in chance.sample(range(40), chance.randint(1, 12))}
                write = (operation, [ride(number, city, next(values)) for number, city in cities.items()])
                if kind == "upsert" or oracle.stored:
                    driver.write(storage, *write)
                    oracle = oracle.after(*write)
        if oracle.stored:
            check_rows(storage, oracle, seed)
            check_places(storage)
    check_at_rest(storage, seed)


def test_a_few_sequences() -> None:
    for seed in range(2):
        play(seed, 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 125))
def test_many_sequences(seed: int) -> None:
    play(seed, 25)
