"""The rides of the quick start: numbers as Apache Hudi 1.2.0 made them, keys and times of this run."""

from __future__ import annotations

import json

import pytest

from pyhudi.errors import UsageError
from pyhudi.javacompat.java_random import JavaRandom
from pyhudi.spark.input.quickstart_utils import DataGenerator, QuickstartUtils


def test_rides_are_those_of_the_guides() -> None:
    generator = DataGenerator()
    inserts = generator.generateInserts(4)
    assert [ride.fare for ride in inserts] == [34.158284716382845, 43.4923811219014, 64.27696295884016, 93.56018115236618]
    assert [ride.partitionpath.rpartition("/")[2] for ride in inserts] == ["sao_paulo", "sao_paulo", "san_francisco", "san_francisco"]
    assert (inserts[0].rider, inserts[0].begin_lat, inserts[0].end_lon) == ("rider-213", 0.4726905879569653, 0.9671159942018241)
    keys = [ride.uuid for ride in inserts]

    updates = generator.generateUpdates(5)
    assert [keys.index(ride.uuid) for ride in updates] == [2, 3, 3, 0, 3]
    assert [ride.fare for ride in updates[:2]] == [87.42041526408588, 18.56488085068272]
    assert {ride.driver for ride in updates} == {"driver-448"}

    unique = generator.generateUniqueUpdates(4)
    assert sorted(ride.uuid for ride in unique) == sorted(keys)
    assert [ride.fare for ride in unique] == [17.992665967365184, 97.8200439821564, 29.47661370147079, 2.182218235125055]


def test_strings_are_json_with_a_key_and_a_time_of_their_own() -> None:
    first, second = (json.loads(text) for text in QuickstartUtils.convertToStringList(DataGenerator(["p"]).generateInserts(2)))
    assert list(first) == ["ts", "uuid", "rider", "driver", "begin_lat", "begin_lon", "end_lat", "end_lon", "fare", "partitionpath"]
    assert (first["uuid"] != second["uuid"], first["partitionpath"]) == (True, "p")


def test_updates_need_rides() -> None:
    generator = DataGenerator()
    with pytest.raises(UsageError, match="generate inserts first"):
        generator.generateUpdates(1)
    generator.generateInserts(1)
    with pytest.raises(UsageError, match="made 1 rides so far"):
        generator.generateUniqueUpdates(2)


def test_numbers_are_javas() -> None:
    """The first numbers of `new Random(42)`."""
    numbers = JavaRandom(42)
    assert [numbers.number_below(10) for _ in range(5)] == [0, 3, 8, 4, 0]
    assert JavaRandom(42).fraction() == 0.7275636800328681
