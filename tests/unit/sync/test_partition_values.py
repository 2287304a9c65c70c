"""Partition values by path, under Hudi's names of classes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pyhudi.errors import OptionError, UsageError
from pyhudi.sync.partition_values import extractor_of, inferred_extractor, partition_values

MODULE = "tests.unit.sync.test_partition_values"


class Region:
    """An extractor of a user's own."""

    def extract_partition_values(self, path: str) -> Sequence[str]:
        return [] if path.startswith("tmp") else path.upper().split("-")


class Counted:
    """No extractor: it counts how often it is made."""

    made = 0

    def __init__(self) -> None:
        Counted.made += 1


class Broken:
    """An extractor that returns no list."""

    def extract_partition_values(self, path: str) -> str:
        return path


@pytest.mark.parametrize(
    ("name", "path", "values"),
    [
        ("MultiPartKeysValueExtractor", "eu/oslo", ["eu", "oslo"]),
        ("MultiPartKeysValueExtractor", "area=eu/city=oslo", ["eu", "oslo"]),
        ("org.apache.hudi.hive.MultiPartKeysValueExtractor", "", []),
        ("HiveStylePartitionValueExtractor", "city=oslo", ["oslo"]),
        ("SinglePartPartitionValueExtractor", "202210/01/20", ["202210-01-20"]),
        ("SlashEncodedDayPartitionValueExtractor", "2026/1/02", ["2026-01-02"]),
        ("SlashEncodedDayPartitionValueExtractor", "y=2026/m=12/d=02", ["2026-12-02"]),
        ("SlashEncodedHourPartitionValueExtractor", "2026/12/02/08", ["2026-12-02-08"]),
        ("NonPartitionedExtractor", "any", []),
        (f"{MODULE}:Region", "eu-oslo", ["EU", "OSLO"]),
    ],
)
def test_values_of_a_path(name: str, path: str, values: list[str]) -> None:
    assert extractor_of(name)(path) == values


@pytest.mark.parametrize(
    ("name", "path", "reason"),
    [
        ("MultiPartKeysValueExtractor", "a=b=c", "no name=value"),
        ("HiveStylePartitionValueExtractor", "oslo", "no name=value"),
        ("SlashEncodedDayPartitionValueExtractor", "2026-12-01", "yyyy/MM/dd"),
        ("SlashEncodedDayPartitionValueExtractor", "a/b/c", "invalid literal"),
        ("SlashEncodedHourPartitionValueExtractor", "2026/12/01", "yyyy/MM/dd/HH"),
        ("MultiPartKeysValueExtractor", "a/b", r"2 value\(s\)"),
        (f"{MODULE}:Broken", "a", "not a list of strings"),
    ],
)
def test_a_path_that_does_not_fit_is_named(name: str, path: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as raised:
        partition_values(extractor_of(name), name, path, ["city"], decode=False)
    assert path in str(raised.value)


def test_an_empty_list_is_no_partition_and_values_can_be_decoded() -> None:
    assert partition_values(Region().extract_partition_values, "Region", "tmp", ["city"], decode=False) is None
    assert partition_values(lambda path: [path], "own", "a%2Fb", ["city"], decode=True) == ("a/b",)


@pytest.mark.parametrize(
    "name",
    ["MultiPartKeyValueExtractor", "org.mine.Extractor", "no_such:Class", f"{MODULE}:Missing", "os:name", "os:system", "subprocess:Popen"],
)
def test_a_class_that_cannot_be_loaded_is_an_error(name: str) -> None:
    with pytest.raises(OptionError, match="partition_extractor_class"):
        extractor_of(name)


def test_nothing_is_called_but_a_class_with_the_method() -> None:
    """Options may come from a catalog."""
    with pytest.raises(OptionError, match="no class with a method extract_partition_values"):
        extractor_of(f"{MODULE}:Counted")
    assert Counted.made == 0


def test_the_class_is_inferred_as_hudi_does() -> None:
    assert inferred_extractor([], hive_style=True) == "NonPartitionedExtractor"
    assert inferred_extractor(["a"], hive_style=True) == "HiveStylePartitionValueExtractor"
    assert inferred_extractor(["a"], hive_style=False) == "SinglePartPartitionValueExtractor"
    assert inferred_extractor(["a", "b"], hive_style=True) == "MultiPartKeysValueExtractor"
