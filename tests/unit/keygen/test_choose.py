"""Which key generator a table has, and the keys it gives to single records."""

from __future__ import annotations

import pytest

from pyhudi.errors import KeyFieldError, OptionError, UnsupportedError
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.keygen.fields import FieldKeys
from pyhudi.spec.table.table_config import TableConfig

INSTANT = "20260101000000000"


def generator(kind: str | None, keys: str, partitions: str = "", version: int = 9, **more: str) -> FieldKeys:
    properties = {
        "hoodie.table.name": "t",
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.timeline.layout.version": "2",
        "hoodie.table.version": str(version),
        "hoodie.table.recordkey.fields": keys,
        "hoodie.table.partition.fields": partitions,
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    if kind:
        properties["hoodie.table.keygenerator.type"] = kind
    result = key_generator(TableConfig(properties), instant=INSTANT, task_partition=3)
    assert isinstance(result, FieldKeys)
    return result


@pytest.mark.parametrize(
    ("kind", "keys", "partitions", "values", "key"),
    [
        ("SIMPLE", "id", "p", ["1"], "1"),
        ("COMPLEX", "id", "p", ["1"], "id:1"),
        ("COMPLEX", "a,b", "p", ["1", "2"], "a:1,b:2"),
        ("COMPLEX", "a,b", "p", [None, ""], None),
        ("COMPLEX", "a,b", "p", [None, "x"], "a:__null__,b:x"),
        ("COMPLEX", "a,b", "p", ["", "x"], "a:__empty__,b:x"),
        ("COMPLEX", "id", "", ["1"], "id:1"),
        ("NON_PARTITION", "id", "", ["1"], "1"),
        ("NON_PARTITION", "a,b", "", ["1", "2"], "a:1,b:2"),
        (None, "id", "p,q", ["1"], "id:1"),
        (None, "id", "", ["1"], "1"),
        ("SIMPLE", "id", "p", [""], None),
        ("SIMPLE", "id", "p", [None], None),
    ],
)
def test_key_of_one_record(kind: str | None, keys: str, partitions: str, values: list[str | None], key: str | None) -> None:
    keys_of = generator(kind, keys, partitions)
    if key is None:
        with pytest.raises(KeyFieldError, match="Row 7"):
            keys_of.record_key(values, row=7)
    else:
        assert keys_of.record_key(values, row=7) == key


@pytest.mark.parametrize("kind", ["HOODIE_TABLE_METADATA", "SPARK_SQL_UUID"])
def test_generator_that_this_release_does_not_write_with_is_refused_by_name(kind: str) -> None:
    with pytest.raises(UnsupportedError, match=kind):
        generator(kind, "id", "p")


def test_class_of_a_user_is_refused_by_its_name_unless_registered() -> None:
    with pytest.raises(UnsupportedError, match=r"com\.example\.Foreign.*register_key_generator"):
        generator("USER_PROVIDED", "id", "p", hoodie__table__keygenerator__class="com.example.Foreign")


@pytest.mark.parametrize(("keys", "values", "key"), [("id", ["1"], "id:1"), ("a,b", ["1", None], "a:1,b:__null__"), ("id", [""], None)])
def test_global_delete_generator_names_its_fields_always(keys: str, values: list[str | None], key: str | None) -> None:
    keys_of = generator("GLOBAL_DELETE", keys)
    if key is None:
        with pytest.raises(KeyFieldError, match="Row 0"):
            keys_of.record_key(values, row=0)
    else:
        assert (keys_of.record_key(values, row=0), keys_of.layout.path([])) == (key, "")


def test_global_delete_generator_has_no_partitions() -> None:
    with pytest.raises(OptionError, match="GLOBAL_DELETE"):
        generator("GLOBAL_DELETE", "id", "p")


@pytest.mark.parametrize(
    ("kind", "fields", "hint"),
    [
        ("SIMPLE", "city,v", "one partition field, but has city, v"),
        ("NON_PARTITION", "city", "no partition field, but has city"),
        ("TIMESTAMP", "", "one partition field, but has none"),
        ("SIMPLE", "city:SIMPLE", "the names of partition fields alone, but has city:SIMPLE"),
    ],
)
def test_partition_fields_that_the_generator_does_not_take_are_refused(kind, fields, hint) -> None:
    with pytest.raises(OptionError, match=hint):
        generator(kind, "id", fields)


def test_simple_generator_with_several_keys_is_refused() -> None:
    with pytest.raises(OptionError, match="COMPLEX"):
        generator("SIMPLE", "a,b", "p")


def test_complex_key_of_one_field_before_version_9_must_be_decided() -> None:
    with pytest.raises(OptionError, match=r"complex\.keygenerator\.encoding"):
        generator("COMPLEX", "id", "p", version=8)


@pytest.mark.parametrize(("decision", "key"), [("VALUE_ONLY", "1"), ("FIELD_PREFIXED", "id:1")])
def test_complex_key_of_one_field_before_version_9_is_as_decided(decision: str, key: str) -> None:
    keys = generator("COMPLEX", "id", "p", version=8, hoodie__table__complex__keygenerator__encoding=decision)
    assert keys.record_key(["1"], row=0) == key


def test_partition_path_follows_hive_style() -> None:
    layout = generator("COMPLEX", "id", "a,b", hoodie__datasource__write__hive_style_partitioning="true").layout
    assert layout.path(["x", None]) == "a=x/b=__HIVE_DEFAULT_PARTITION__"


SLASHES = {"hoodie__datasource__write__slash__separated__date__partitioning": "true"}


@pytest.mark.parametrize(("value", "path"), [("2024-01-15", "2024/01/15"), (None, "__HIVE_DEFAULT_PARTITION__"), ("plain", "plain")])
def test_date_with_slashes_has_a_folder_for_each_part(value: str | None, path: str) -> None:
    assert generator("SIMPLE", "id", "day", **SLASHES).layout.path([value]) == path  # type: ignore[arg-type]


def test_value_that_slashes_would_make_absolute_is_refused() -> None:
    with pytest.raises(KeyFieldError, match="absolute"):
        generator("SIMPLE", "id", "day", **SLASHES).layout.path(["-5"])  # type: ignore[arg-type]


@pytest.mark.parametrize(("fields", "hint"), [("city", "city:SIMPLE"), ("city:WHEN", "WHEN"), ("city:SIMPLE,ts", "ts:TIMESTAMP")])
def test_custom_generator_must_say_how_each_field_is_written(fields: str, hint: str) -> None:
    with pytest.raises(OptionError, match=hint):
        generator("CUSTOM", "id", fields)


@pytest.mark.parametrize(("keys", "key"), [("id", "1"), ("id,b", "id:1,b:2")])
def test_custom_generator_keys_are_simple_or_complex(keys: str, key: str) -> None:
    assert generator("CUSTOM", keys, "city:simple").record_key(["1", "2"][: keys.count(",") + 1], row=0) == key
