"""Keys and partition paths that Apache Hudi makes of one set of rows are those that pyhudi makes: generators, types and options.

One call asks Apache Hudi's key generators themselves (`key_texts`), for every record in one go; a few tables show that its writes and
pyhudi's take turns with them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError
from pyhudi.kernels.keys.key_kernels import key_columns
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.spec.table.table_config import TableConfig
from tests.interop.reference import ReferenceHudi

WRITE = "hoodie.datasource.write."
TIMES = "hoodie.keygen.timebased."
NAMES = {
    "SIMPLE": "Simple",
    "COMPLEX": "Complex",
    "NON_PARTITION": "Nonpartitioned",
    "TIMESTAMP": "TimestampBased",
    "CUSTOM": "Custom",
    "GLOBAL_DELETE": "GlobalDelete",
}
ROWS = pa.table(
    {
        "id": ["k1", "k2", "k3"],
        "text": ["a b/c:d%e=é", "2024-01-15", None],
        "small": pa.array([1, -5, None], pa.int32()),
        "large": pa.array([1578283932007, -86400001, None], pa.int64()),
        "single": pa.array([1.5, -0.1, None], pa.float32()),
        "double": [1e10, 1578283932000.7, None],
        "flag": [True, False, None],
        "money": pa.array([Decimal("12.30"), Decimal("-2.00"), None], pa.decimal128(10, 2)),
        "tiny": pa.array([Decimal("0E-10"), Decimal("1E-10"), None], pa.decimal128(38, 10)),
        "day": [date(2024, 1, 15), date(1969, 12, 31), None],
        "at": pa.array(
            [datetime(2024, 1, 15, 9, 30, 0, 123456, UTC), datetime(1960, 1, 15, 9, 30, 0, 5, UTC), None], pa.timestamp("us", "UTC")
        ),
        "clock": pa.array([datetime(2024, 1, 15, 9, 30), datetime(1960, 1, 15, 9, 30), None], pa.timestamp("us")),
        "raw": [b"\x00\xff", b"xyz", None],
        "when": ["2020-01-06T12:12:12.428Z", "2020-04-01T13:01:33.428-05:00", None],
        "zoned": ["2024-07-01 12:00 PST", "2024-01-15 12:00 EDT", None],
        "deep": [{"x": 1, "y": {"z": "q"}}, {"x": 2, "y": {"z": "r/s"}}, {"x": 3, "y": {"z": None}}],
    }
)
#: Values at the ends of their types, and empty ones.
EDGES = pa.table(
    {
        "id": ["e", "k"],
        "text": ["", "Zürich \U0001f600 \x7f[^]{?*\"\\'"],
        "small": pa.array([-(2**31), 2**31 - 1], pa.int32()),
        "large": pa.array([-(2**63), 2**63 - 1], pa.int64()),
        "single": pa.array([float("nan"), 3.4028235e38], pa.float32()),
        "double": [float("-inf"), -0.0],
        # Digits that Java up to 18 has more of than are needed.
        "long_single": pa.array([33589688.0, 4.230369682330923e25], pa.float32()),
        "long_double": [2e23, 123456789012346688.0],
        "least_double": [5e-324, 1e-7],
        "flag": [False, True],
        "money": pa.array([Decimal("99999999.99"), Decimal("0.00")], pa.decimal128(10, 2)),
        "tiny": pa.array([Decimal("1E+20"), Decimal("-1E-10")], pa.decimal128(38, 10)),
        "day": [date(9999, 12, 31), date(1, 1, 1)],
        "at": pa.array([datetime(9999, 12, 31, 23, 59, 59, 999999, UTC), datetime(1970, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
        "clock": pa.array([datetime(2024, 3, 10, 2, 30, 0, 1), datetime(1970, 1, 1)], pa.timestamp("us")),
        "raw": [b"", bytes(range(40))],
    }
)
PLAIN = [name for name in ROWS.column_names if name not in ("deep", "id")]
LOGICAL = {WRITE + "keygenerator.consistent.logical.timestamp.enabled": "true"}
ENCODED = {WRITE + "partitionpath.urlencode": "true"}
HIVE = {WRITE + "hive_style_partitioning": "true"}
SLASHES = {WRITE + "slash.separated.date.partitioning": "true"}
STYLES: tuple[dict[str, str], ...] = ({}, ENCODED, HIVE, {**ENCODED, **HIVE}, LOGICAL)
Case = tuple[str, str, str, dict[str, str]]


def moments(kind: str, output: str, **more: str) -> dict[str, str]:
    return {TIMES + "timestamp.type": kind, TIMES + "output.dateformat": output} | {TIMES + name: value for name, value in more.items()}


def plain_cases() -> list[Case]:
    """Generator, key fields, partition fields and options: every type with every option."""
    result: list[Case] = [("SIMPLE", "id", name, style) for name in (*PLAIN, "deep.x", "deep.y.z") for style in STYLES]
    result += [("COMPLEX", f"id,{name}", f"{name},id", style) for name in (*PLAIN, "deep.y.z") for style in STYLES]
    result += [("CUSTOM", "id", f"{name}:SIMPLE,id:simple", style) for name in (*PLAIN, "deep.y.z") for style in STYLES]
    result += [(kind, f"id,{name}", "", style) for kind in KEYS_ALONE for name in (*PLAIN, "deep.y.z") for style in ({}, LOGICAL)]
    result += [(kind, name, "", {}) for kind in KEYS_ALONE for name in ("id", "deep.x")]
    result += [("SIMPLE", "id", name, SLASHES) for name in ("day", "text")]
    return [*result, ("COMPLEX", "id", "text,day", HIVE), ("COMPLEX", "id", "day", SLASHES), ("CUSTOM", "id,small", "deep.y.z:simple", {})]


def moment_cases() -> list[Case]:
    """The same for partitions that are moments: every type, unit and form."""
    zones = {"timezone": "GMT+8:00"}
    numbers = ["small", "large", "single", "double", "money", "day"]
    stamp = "yyyy-MM-dd HH:mm:ss.SSS"
    result: list[Case] = [("TIMESTAMP", "id", name, moments(kind, stamp, **zones)) for name in numbers for kind in NUMBER_KINDS]
    result += [("TIMESTAMP", "id", name, moments("SCALAR", stamp, **zones, **{UNIT: unit})) for name in numbers for unit in UNITS]
    strings = {"input.dateformat": "yyyy-MM-dd'T'HH:mm:ssZ,yyyy-MM-dd'T'HH:mm:ss.SSSZ"}
    result += [
        ("TIMESTAMP", "id", "when", moments(kind, "yyyyMMddHH Z", **strings, **zone)) for kind in ("DATE_STRING", "MIXED") for zone in ZONES
    ]
    named = moments("DATE_STRING", "yyyyMMddHH Z", **{"input.dateformat": "yyyy-MM-dd HH:mm z", "output.timezone": "UTC"})
    result.append(("TIMESTAMP", "id", "zoned", named))
    both = [
        ("CUSTOM", "id", "text:SIMPLE,large:TIMESTAMP", {**style, **moments("SCALAR", "yyyy/MM/dd", **zones)})
        for style in ({}, HIVE, ENCODED)
    ]
    return [*result, *both, ("CUSTOM", "id", "at:TIMESTAMP", {**LOGICAL, **moments("SCALAR", "yyyy D", **zones)})]


def edge_cases() -> list[Case]:
    """Keys of values at the ends of their types in every form, and paths where a path can hold them."""
    names = [name for name in EDGES.column_names if name != "id"]
    result: list[Case] = [("COMPLEX", f"id,{name}", "", style) for name in names for style in ({}, LOGICAL)]
    return result + [("COMPLEX", f"id,{name}", name, style) for name in names for style in (ENCODED, {**ENCODED, **HIVE})]


def wide_cases() -> list[Case]:
    """Patterns of dates in time zones."""
    return [("TIMESTAMP", "id", "large", moments("EPOCHMILLISECONDS", text, timezone=zone)) for text in PATTERNS for zone in ALL_ZONES]


KEYS_ALONE = ("NON_PARTITION", "GLOBAL_DELETE")
NUMBER_KINDS = ("UNIX_TIMESTAMP", "EPOCHMILLISECONDS", "EPOCHMICROSECONDS", "SCALAR")
UNIT = "timestamp.scalar.time.unit"
UNITS = ("DAYS", "HOURS", "MINUTES", "SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS")
ZONES: list[dict[str, str]] = [
    {"input.timezone": "", "output.timezone": "UTC"},
    {"input.timezone": "Asia/Tokyo"},
    {"timezone": "America/New_York"},
]
PATTERNS = ("yyyy/MM/dd/HH", "yy-M-d h:m:s.S a", "xxxx-'W'ww-e", "EEE MMM", "EEEE MMMM", "D kk KK", "G C Y", "SSSSSS Z ZZ ZZZ", "''yyyy''")
ALL_ZONES = ("UTC", "GMT-0330", "Europe/Paris", "America/St_Johns", "PST", "Asia/Kolkata")


def write_options(case: Case) -> dict[str, Any]:
    kind, keys, partitions, options = case
    return {
        "class": f"org.apache.hudi.keygen.{NAMES[kind]}KeyGenerator",
        "options": {WRITE + "recordkey.field": keys, WRITE + "partitionpath.field": partitions, **options},
    }


def made_here(rows: pa.Table, case: Case) -> list[list[str]]:
    kind, keys, partitions, options = case
    properties = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "9",
        "hoodie.timeline.layout.version": "2",
        "hoodie.table.recordkey.fields": keys,
        "hoodie.table.partition.fields": partitions,
        "hoodie.table.keygenerator.type": kind,
        **options,
    }
    generator = key_generator(TableConfig(properties), instant="20260101000000000")
    return [list(pair) for pair in zip(*(column.to_pylist() for column in key_columns(rows, generator)), strict=True)]


def assert_equal(reference: ReferenceHudi, rows: pa.Table, matrix: list[Case]) -> None:
    answers = reference.key_texts(rows, [write_options(case) for case in matrix])
    differing = []
    for case, answer in zip(matrix, answers, strict=True):
        try:
            here: list[list[str]] | str = made_here(rows, case)
        except HudiError as error:
            here = str(error)
        if here != answer:
            differing.append((case, answer, here))
    assert differing == []
    assert len(answers) == len(matrix)


@pytest.mark.parametrize("cases", [plain_cases, moment_cases, wide_cases])
def test_keys_and_paths_are_those_of_apache_hudi(reference: ReferenceHudi, cases: Callable[[], list[Case]]) -> None:
    assert_equal(reference, ROWS, cases())


def test_keys_of_values_at_the_ends_of_their_types_are_those_of_apache_hudi(reference: ReferenceHudi) -> None:
    assert_equal(reference, EDGES, edge_cases())


MILLIS = moments("EPOCHMILLISECONDS", "yyyyMMdd", timezone="UTC")


@pytest.mark.parametrize(
    ("name", "partition_by", "options"),
    [
        ("custom", "city:SIMPLE,at:TIMESTAMP", {WRITE + "keygenerator.class": "org.apache.hudi.keygen.CustomKeyGenerator", **MILLIS}),
        ("virtual", "city", {"hoodie.populate.meta.fields": "false", "hoodie.index.type": "SIMPLE"}),
    ],
)
def test_both_sides_write_one_table_in_turn(
    reference: ReferenceHudi, tmp_path: Path, name: str, partition_by: str, options: dict[str, str]
) -> None:
    path = tmp_path / name
    schema = pa.schema({"id": pa.string(), "at": pa.int64(), "city": pa.string(), "n": pa.int64()})
    about_write = {"hoodie.index.type"}
    table = HudiTable.create(
        path,
        schema,
        name=name,
        keys=["id"],
        partition_by=partition_by.split(","),
        options={key: value for key, value in options.items() if key not in about_write},
    )
    table.upsert(pa.table({"id": ["a", "b"], "at": [1578283932000, 1705311000000], "city": ["lima", "oslo"], "n": [1, 2]}))
    fields = {"hoodie.table.name": name, WRITE + "recordkey.field": "id", WRITE + "partitionpath.field": partition_by}
    theirs = pa.table({"id": ["a", "c"], "at": [1578283932001, 1705311000000], "city": ["lima", "oslo"], "n": [10, 3]})
    reference.write(path, theirs, "append", {**fields, **options})
    table.upsert(pa.table({"id": ["c", "b"], "at": [1705311000001, 1705311000000], "city": ["oslo", "oslo"], "n": [30, 20]}))
    expected = [("a", 10), ("b", 20), ("c", 30)]
    assert sorted((row["id"], row["n"]) for row in HudiTable.open(path).to_arrow().to_pylist()) == expected
    assert sorted((row["id"], row["n"]) for row in reference.read(path).select(["id", "n"]).to_pylist()) == expected
