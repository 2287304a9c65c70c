"""Partitions are left out only when their path proves that no row of theirs matches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pyhudi.read.filter.predicate import parse_predicate
from pyhudi.read.skipping.partition_pruning import prune_partitions
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.table_config import TableConfig, new_table_properties

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "day": pa.date32(), "n": pa.int32()})


def pruned(paths: list[str], condition: str, *fields: str, hive_style: bool = True, **changes: Any) -> tuple[str, ...]:
    properties = new_table_properties(name="t", record_key_fields=["id"], partition_fields=fields, hive_style=hive_style, **changes)
    return prune_partitions(paths, parse_predicate(condition, SCHEMA).expression, SCHEMA, TableConfig(properties))


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("city = 'lima'", ["city=lima"]),
        ("city <> 'lima'", ["city=oslo", "city=__HIVE_DEFAULT_PARTITION__"]),
        ("city IN ('oslo', 'rome')", ["city=oslo", "city=__HIVE_DEFAULT_PARTITION__"]),
        ("city > 'm'", ["city=oslo", "city=__HIVE_DEFAULT_PARTITION__"]),
        ("id = 1", ["city=lima", "city=oslo", "city=__HIVE_DEFAULT_PARTITION__"]),
        ("id = 1 AND city = 'lima'", ["city=lima"]),
        ("id = 1 OR city = 'lima'", ["city=lima", "city=oslo", "city=__HIVE_DEFAULT_PARTITION__"]),
    ],
)
def test_text_partitions(condition: str, left: list[str]) -> None:
    # The default partition holds empty texts as well as nulls, so nothing is known of it.
    result = pruned(["city=lima", "city=oslo", "city=__HIVE_DEFAULT_PARTITION__"], condition, "city")
    assert set(left) - {"city=__HIVE_DEFAULT_PARTITION__"} == set(result) - {"city=__HIVE_DEFAULT_PARTITION__"}


def test_values_keep_the_type_of_the_column() -> None:
    paths = ["day=2026-01-01", "day=2026-02-01", "day=__HIVE_DEFAULT_PARTITION__"]
    assert pruned(paths, "day >= '2026-01-15'", "day") == ("day=2026-02-01",)
    assert pruned(paths, "day IS NULL", "day") == ("day=__HIVE_DEFAULT_PARTITION__",)
    assert pruned(["n=9", "n=10"], "n > 9", "n") == ("n=10",)


def test_every_level_counts() -> None:
    paths = ["lima/1", "lima/2", "oslo/1"]
    assert pruned(paths, "n = 1", "city", "n", hive_style=False) == ("lima/1", "oslo/1")
    assert pruned(paths, "n = 1 AND city = 'lima'", "city", "n", hive_style=False) == ("lima/1",)


def test_a_path_that_cannot_be_taken_apart_is_kept() -> None:
    assert pruned(["a/b/1", "oslo/1"], "city = 'lima'", "city", "n", hive_style=False) == ("a/b/1",)


def test_a_value_that_is_none_of_the_type_is_kept() -> None:
    assert pruned(["day=someday"], "day = '2026-01-01'", "day") == ("day=someday",)


def test_encoded_values_are_decoded() -> None:
    assert pruned(["city=x%2Fy", "city=z"], "city = 'x/y'", "city", url_encode=True) == ("city=x%2Fy",)


def test_paths_of_a_generator_that_changes_values_are_kept() -> None:
    paths = ["2026/01/01", "2026/01/02"]
    retained = pruned(paths, "city = 'lima'", "city", hive_style=False, key_generator=KeyGeneratorType.TIMESTAMP)
    assert retained == tuple(paths)
