"""Delete blocks of all versions: ordering values of every type, lists of old releases, damage."""

from __future__ import annotations

import datetime as dt
import io
import json
import pickle
import struct
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.log.log_content import decode_deletes, encode_deletes, iter_deletes
from pyhudi.errors import CorruptTableError, SchemaError, UnsupportedError
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys, OrderingType
from tests.tables import FIXTURES

KRYO = [line.split("\t") for line in (FIXTURES / "log_format" / "kryo_deletes.tsv").read_text().splitlines()]
UTC = dt.UTC
T = OrderingType


def content_of(payload: bytes, version: int = 3) -> bytes:
    return struct.pack(">ii", version, len(payload)) + payload


def kryo(release: str, what: str) -> DeletedKeys:
    (raw,) = (raw for result, name, raw in KRYO if (result, name) == (release, what))
    return decode_deletes(content_of(bytes.fromhex(raw), 1 if what.startswith("V1") else 2))


# What Apache Hudi 1.2.0 wrote for deletes of the keys a and b, by the type of its ordering column.
SEEN = [
    ("bigint", "060a", 5, [T.LONG]),
    ("bigint 0", "0600", 0, [T.LONG]),
    ("int", "040a", 5, [T.INT]),
    ("int 0", "0400", COMMIT_TIME_DELETE, []),
    ("float", "080000c03f", 1.5, [T.FLOAT]),
    ("double", "0a000000000000f83f", 1.5, [T.DOUBLE]),
    ("boolean", "0201", True, [T.BOOLEAN]),
    ("string", "0e0261", "a", [T.STRING]),
    ("binary", "0c040102", b"\1\2", [T.BYTES]),
    ("decimal", "120e2bd72a24874000", Decimal("12.34"), [T.DECIMAL]),
    ("negative decimal", "120efc72815b398000", Decimal(-1), [T.DECIMAL]),
    ("timestamp", "06eabcbae5ded7a306", 1767323045678901, [T.LONG]),
    ("bigint, string", "18020406 0a 0e026100", (5, "a"), [T.LONG, T.STRING]),
    ("float, double, boolean", "180206080000c03f0a000000000000f83f020100", (1.5, 1.5, True), [T.FLOAT, T.DOUBLE, T.BOOLEAN]),
    ("bigint 0, int 0", "180204 0600 0400 00", (0, 0), [T.LONG, T.INT]),
    ("timestamp, decimal", "180204 06eabcbae5ded7a306 120e2bd72a24874000 00", (1767323045678901, Decimal("12.34")), [T.LONG, T.DECIMAL]),
]


@pytest.mark.parametrize(("name", "raw", "value", "types"), SEEN, ids=[row[0] for row in SEEN])
def test_ordering_value_of_apache_hudi_is_read_and_written(name: str, raw: str, value: Any, types: list[OrderingType]) -> None:
    content = content_of(bytes.fromhex("02 0202610200" + raw + "00"))
    deleted = decode_deletes(content)
    assert deleted == DeletedKeys(("a",), ("",), (value,))
    assert [type(result) for result in deleted.ordering] == [type(value)]
    assert encode_deletes(deleted, types) == content


@pytest.mark.parametrize(
    ("value", "kind", "number"),
    [
        (dt.date(2026, 1, 2), T.INT, 20455),
        (dt.date(1960, 1, 1), T.INT, -3653),
        (dt.datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), T.LONG, 1767323045678901),
        (dt.datetime(2026, 1, 2, 3, 4, 5, 678901), T.LONG, 1767323045678901),
        (dt.datetime(1960, 1, 2, 3, 4, 5, 678901, UTC), T.LONG, -315521754321099),
    ],
)
def test_days_and_times_are_written_as_numbers_where_the_column_is_one(value: Any, kind: OrderingType, number: int) -> None:
    assert decode_deletes(encode_deletes(DeletedKeys(("a",), ("",), (value,)), [kind])).ordering == (number,)


LEAST = {
    T.BOOLEAN: False,
    T.INT: -(2**31),
    T.LONG: -(2**63),
    T.FLOAT: float("-inf"),
    T.DOUBLE: float("-inf"),
    T.BYTES: b"",
    T.STRING: "",
    T.DATE: dt.date.min,
    T.DECIMAL: Decimal(1 - 10**23),
    T.TIME: dt.time.min,
    T.TIMESTAMP: dt.datetime.min.replace(tzinfo=UTC),
}


@pytest.mark.parametrize("kind", LEAST)
def test_null_is_written_as_the_least_of_its_type(kind: OrderingType) -> None:
    """Apache Hudi 1.2.0 writes nulls, and then fails to read them (`NullPointerException`, "Union is malformed")."""
    single = DeletedKeys(("a",), ("",), (None,))
    assert decode_deletes(encode_deletes(single, [kind])).ordering == (LEAST[kind],)
    several = DeletedKeys(("a", "b"), ("", ""), ((None, 5), None))
    least = (LEAST[kind], LEAST[T.LONG])
    assert decode_deletes(encode_deletes(several, [kind, T.LONG])).ordering == ((LEAST[kind], 5), least)


def test_null_without_ordering_fields_is_a_delete_by_commit_time() -> None:
    (result,) = decode_deletes(encode_deletes(DeletedKeys(("a",), ("",), (None,)))).ordering
    assert result is COMMIT_TIME_DELETE


@pytest.mark.parametrize(("raw", "value"), [("00", None), ("1800", None), ("180204 00 040a 00", (None, 5)), ("180200", ())])
def test_nulls_of_apache_hudi_are_read(raw: str, value: Any) -> None:
    assert decode_deletes(content_of(bytes.fromhex("02 0202610200" + raw + "00"))).ordering == (value,)


def test_day_among_several_values_is_read_in_the_form_that_apache_hudi_gives_it() -> None:
    content = content_of(bytes.fromhex("02 0202610200 180204 040a 18cebf02 00 00"))
    assert decode_deletes(content).ordering == ((5, dt.date(2026, 1, 2)),)


def test_deletes_by_commit_time_are_told_from_a_zero_in_another_type_also_after_pickling() -> None:
    content = content_of(bytes.fromhex("04 0202610200 0400 0202620200 0600 00"))
    int_zero, long_zero = pickle.loads(pickle.dumps(decode_deletes(content))).ordering
    assert int_zero == long_zero == 0
    assert int_zero is COMMIT_TIME_DELETE
    assert long_zero is not COMMIT_TIME_DELETE


SINGLE = {
    T.BOOLEAN: st.booleans(),
    T.INT: st.integers(-(2**31), 2**31 - 1).filter(bool),
    T.LONG: st.integers(-(2**63), 2**63 - 1),
    T.FLOAT: st.floats(width=32, allow_nan=False),
    T.DOUBLE: st.floats(allow_nan=False),
    T.BYTES: st.binary(),
    T.STRING: st.text(),
    T.DATE: st.dates(),
    T.DECIMAL: st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20),
    T.TIME: st.times(),
    T.TIMESTAMP: st.datetimes(timezones=st.just(UTC)),
}
ordering_values = st.lists(st.sampled_from(sorted(SINGLE)), min_size=1, max_size=3).flatmap(
    lambda types: st.tuples(
        st.just(types),
        st.just(COMMIT_TIME_DELETE) | (st.tuples(*(SINGLE[kind] for kind in types)) if len(types) > 1 else SINGLE[types[0]]),
    )
)


@given(ordering_values, st.text(min_size=1), st.none() | st.text())
def test_every_ordering_value_survives_writing_and_reading(chosen, key: str, path: str | None) -> None:
    types, value = chosen
    deleted = DeletedKeys((key, key), (path, path), (value, value))
    assert decode_deletes(encode_deletes(deleted, types)) == deleted


def test_list_is_what_fastavro_makes_of_hudi_s_schema() -> None:
    schema = fastavro.parse_schema(json.loads((FIXTURES / "log_format" / "HoodieDeleteRecordList.avsc").read_text()))
    deleted = DeletedKeys(("k", "größe"), ("p=1", None), ((7, "x", dt.date(2026, 1, 2)), COMMIT_TIME_DELETE))
    source = io.BytesIO(encode_deletes(deleted, [T.LONG, T.STRING, T.DATE])[8:])
    read = fastavro.schemaless_reader(source, schema, return_record_name=True)
    names = "org.apache.hudi.avro.model."
    values = [(f"{names}LongWrapper", {"value": 7}), (f"{names}StringWrapper", {"value": "x"}), (f"{names}DateWrapper", {"value": 20455})]
    assert read == {
        "deleteRecordList": [
            {"recordKey": "k", "partitionPath": "p=1", "orderingVal": (f"{names}ArrayWrapper", {"wrappedValues": values})},
            {"recordKey": "größe", "partitionPath": None, "orderingVal": (f"{names}IntWrapper", {"value": 0})},
        ]
    }
    assert source.read() == b""


@pytest.mark.parametrize(
    ("value", "types"),
    [
        (5, []),
        (2**31, [T.INT]),
        (2**63, [T.LONG]),
        (True, [T.INT]),
        (5, [T.BOOLEAN]),
        (5, [T.STRING]),
        ("5", [T.LONG]),
        ("5", [T.DOUBLE]),
        (1e300, [T.FLOAT]),
        (Decimal("0.0000000000000001"), [T.DECIMAL]),
        (Decimal("NaN"), [T.DECIMAL]),
        (dt.datetime(2026, 1, 1, tzinfo=UTC), [T.DATE]),
        (dt.datetime(2026, 1, 1), [T.INT]),
        (dt.date(2026, 1, 1), [T.LONG]),
        (dt.date(2026, 1, 1), [T.TIMESTAMP]),
        ((1, 2), [T.LONG]),
        ((1,), [T.LONG, T.LONG]),
        ((1, 2), [T.LONG, T.SEVERAL]),
    ],
)
def test_ordering_value_of_another_type_is_not_written(value: Any, types: list[OrderingType]) -> None:
    with pytest.raises(SchemaError, match="ordering value"):
        encode_deletes(DeletedKeys(("a",), ("",), (value,)), types)


@pytest.mark.parametrize("most", [1, 2, 3, 5, 6])
def test_deletes_come_in_parts_of_the_asked_size(most: int) -> None:
    deleted = DeletedKeys(tuple("abcde"), ("", "p", None, "p", ""), (1, 2, 3, 4, 5))
    parts = list(iter_deletes(encode_deletes(deleted, [T.LONG]), most))
    assert [len(part.keys) for part in parts] == [min(most, 5 - first) for first in range(0, 5, most)]
    assert sum((part.keys for part in parts), ()) == deleted.keys
    assert sum((part.partition_paths for part in parts), ()) == deleted.partition_paths
    assert sum((part.ordering for part in parts), ()) == deleted.ordering


def test_list_in_several_avro_blocks_is_read_whole() -> None:
    one, two = (bytes.fromhex(f"0202{letter}0200 0400") for letter in ("61", "62"))
    sized = b"\x01" + bytes([2 * len(two)]) + two
    deleted = decode_deletes(content_of(b"\x02" + one + sized + b"\x04" + one + two + b"\x00"))
    assert deleted.keys == ("a", "b", "a", "b")


@pytest.mark.parametrize(("release", "what"), [row[:2] for row in KRYO if "Instant" not in row[1]])
def test_lists_of_old_releases_are_read(release: str, what: str) -> None:
    deleted = kryo(release, what)
    assert len(deleted.keys) == len(deleted.partition_paths) == len(deleted.ordering)
    if what.startswith("V2 "):
        assert deleted.keys == ("k1", "k2")[: len(deleted.keys)]
        assert set(deleted.partition_paths) == {"p=1"}
        assert len(set(deleted.ordering)) == 1


@pytest.mark.parametrize(
    ("what", "keys", "paths"),
    [
        ("V1 one", ("k1",), ("p=1",)),
        ("V1 several", ("k1", "key-2", "größe", "x"), ("p=1", "p=1", "", "中")),
        ("V1 empty", (), ()),
        ("V1 long", ("a" * 100, "a" * 100 + "\U0001f600"), ("p", "é")),
        ("V1 huge", ("中" * 70,), ("p",)),
    ],
)
def test_keys_of_a_list_of_version_1_are_these(what: str, keys: tuple[str, ...], paths: tuple[str, ...]) -> None:
    assert kryo("0.9.0", what) == DeletedKeys(keys, paths, (COMMIT_TIME_DELETE,) * len(keys))


@pytest.mark.parametrize("release", ["0.12.3", "0.13.1"])
@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("V2 null null", None),
        ("V2 Integer 0", COMMIT_TIME_DELETE),
        ("V2 key alone", COMMIT_TIME_DELETE),
        ("V2 Integer -2147483648", -(2**31)),
        ("V2 Long -7", -7),
        ("V2 Long 9223372036854775807", 2**63 - 1),
        ("V2 Long -9223372036854775808", -(2**63)),
        ("V2 Float 1.5", 1.5),
        ("V2 Double 2.5", 2.5),
        ("V2 Boolean true", True),
        ("V2 String größe", "größe"),
        ("V2 Utf8 utf", "utf"),
        ("V2 BigDecimal 12.34", Decimal("12.34")),
        ("V2 BigDecimal -1E+3", Decimal(-1000)),
        ("V2 Date 2026-01-02", dt.date(2026, 1, 2)),
        ("V2 LocalDate 2026-01-02", dt.date(2026, 1, 2)),
        ("V2 Timestamp 2026-01-02 03:04:05.678901", dt.datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)),
        ("V2 Timestamp 1960-01-02 03:04:05.678901", dt.datetime(1960, 1, 2, 3, 4, 5, 678000, UTC)),
    ],
)
def test_ordering_value_of_a_list_of_version_2_is_this(release: str, what: str, value: Any) -> None:
    result = kryo(release, what).ordering
    assert set(result) == {value}
    assert {type(one) for one in result} == {type(value)}


def test_class_that_nobody_expects_in_an_old_list_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"java\.time\.Instant"):
        kryo("0.12.3", "V2 Instant 1970-01-01T00:00:05Z")
    with pytest.raises(UnsupportedError, match=r"HoodieKey.*DeleteRecord"):
        decode_deletes(content_of(bytes.fromhex(KRYO[0][2]), 2))


@pytest.mark.parametrize("location", range(len(KRYO)))
def test_cut_off_old_list_is_a_typed_error_at_every_length(location: int) -> None:
    _, what, raw = KRYO[location]
    data = bytes.fromhex(raw)
    for length in range(len(data)):
        with pytest.raises((CorruptTableError, UnsupportedError)):
            decode_deletes(content_of(data[:length], int(what[1])))


@pytest.mark.parametrize("length", range(25))
def test_cut_off_list_is_damage_at_every_length(length: int) -> None:
    whole = encode_deletes(DeletedKeys(("abc", "d"), ("p", None), ((7, "x"), COMMIT_TIME_DELETE)), [T.LONG, T.STRING])[8:]
    assert len(whole) == 25
    with pytest.raises(CorruptTableError):
        decode_deletes(content_of(whole[:length]))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("fe01 0202610200 00 00", "127 deletes in"),
        ("02 000200 00 00", "without record key"),
        ("02 0202610400 00 00", "partition path of type 4"),
        ("02 0203616161", "a text of -2 bytes"),
        ("02 02fe0161", "a text of 127 bytes"),
        ("02 0202ff0200 00 00", r"not|none|decode"),
        ("02 0202610200 00 00 00", "behind its 1 deletes"),
        ("02 0202610200 12 84018000" + "00" * 70, r"decimal of 66 bytes|a text"),
        ("02 0202610200 06 ffffffffffffffffffffff", "overlong"),
        ("02 0202610200 1802 feff01", "ordering values"),
    ],
)
def test_damaged_list_is_a_typed_error(raw: str, message: str) -> None:
    with pytest.raises(CorruptTableError, match=message):
        decode_deletes(content_of(bytes.fromhex(raw)))


def test_unknown_type_of_an_ordering_value_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="type 13 of an ordering value"):
        decode_deletes(content_of(bytes.fromhex("02 0202610200 1a00 00")))


@pytest.mark.parametrize("version", [0, 4, -1])
def test_delete_block_of_another_version_is_refused(version: int) -> None:
    with pytest.raises(UnsupportedError, match=f"version {version} of a delete block"):
        decode_deletes(content_of(b"\0", version))


@pytest.mark.parametrize("length", [0, 2, -1, 2**31 - 1])
def test_forged_length_of_the_list_is_damage(length: int) -> None:
    with pytest.raises(CorruptTableError, match="list has"):
        decode_deletes(struct.pack(">ii", 3, length) + b"\0")
