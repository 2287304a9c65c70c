"""Which key generator a table has, and the keys it gives to single records."""

from __future__ import annotations

import pytest

from pyhudi.errors import KeyFieldError, OptionError, UnsupportedError
from pyhudi.keygen.choose import key_generator
from pyhudi.keygen.protocol import KeyGenerator
from pyhudi.spec.table_config import TableConfig


def generator(kind: str | None, keys: str, partitions: str = "", version: int = 9, **more: str) -> KeyGenerator:
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
    return key_generator(TableConfig(properties), instant="20260101000000000", task_partition=3)


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
        ("SIMPLE", "", "p", [], "20260101000000000_3_7"),
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


@pytest.mark.parametrize("kind", ["TIMESTAMP", "CUSTOM", "GLOBAL_DELETE", "USER_PROVIDED"])
def test_generator_that_this_release_does_not_write_with_is_refused_by_name(kind: str) -> None:
    with pytest.raises(UnsupportedError, match=kind):
        generator(kind, "id", "p")


def test_simple_generator_with_several_keys_is_refused() -> None:
    with pytest.raises(OptionError, match="COMPLEX"):
        generator("SIMPLE", "a,b", "p")


def test_complex_key_of_one_field_before_version_9_must_be_decided() -> None:
    with pytest.raises(OptionError, match=r"complex\.keygen\.new\.encoding"):
        generator("COMPLEX", "id", "p", version=8)


@pytest.mark.parametrize(("decision", "key"), [("true", "1"), ("false", "id:1")])
def test_complex_key_of_one_field_before_version_9_is_as_decided(decision: str, key: str) -> None:
    keys = generator("COMPLEX", "id", "p", version=8, hoodie__write__complex__keygen__new__encoding=decision)
    assert keys.record_key(["1"], row=0) == key


def test_partition_path_follows_hive_style() -> None:
    layout = generator("COMPLEX", "id", "a,b", hoodie__datasource__write__hive_style_partitioning="true").layout
    assert layout.path(["x", None]) == "a=x/b=__HIVE_DEFAULT_PARTITION__"
