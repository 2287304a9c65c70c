"""Catalogs of the user's own, by name and as `module:Class`; docs/catalog-sync.md has a whole one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest

import pyhudi
from pyhudi import CatalogEntry, HudiTable
from pyhudi.errors import CatalogError, OptionError

TOOL = "hoodie.meta.sync.client.tool.class"
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


class Calls:
    """A catalog that notes what it is asked for, and fails where it is told to."""

    made: ClassVar[list[list[str]]] = []

    def __init__(self, failing: str = "") -> None:
        self.calls: list[str] = []
        self.failing = failing
        self.options: Mapping[str, str] = {}
        self.made.append(self.calls)

    def open_catalog(self, options: Mapping[str, str], database: str) -> Calls:
        self.note(f"open {database}")
        self.options = options
        return self

    def note(self, call: str) -> None:
        self.calls.append(call)
        if call.split(maxsplit=1)[0] == self.failing:
            raise CatalogError(f"the catalog refuses {call}")

    def has_database(self) -> bool:
        return False

    def create_database(self) -> None:
        self.note("create_database")

    def table(self, name: str) -> CatalogEntry | None:
        self.note(f"table {name}")
        return None

    def create_table(self, name: str, entry: CatalogEntry) -> None:
        self.note(f"create_table {name} {entry.location.rpartition('/')[2]}")

    def alter_table(self, name: str, entry: CatalogEntry, *, cascade: bool) -> None:
        raise AssertionError("the table is new")

    def set_properties(self, name: str, properties: Mapping[str, str]) -> None:
        self.note(f"set_properties {name}")

    def drop_table(self, name: str) -> None:
        raise AssertionError("the table is new")

    def partitions(self, name: str, among: Collection[tuple[str, ...]] | None = None) -> dict[tuple[str, ...], str]:
        return {}

    def add_partitions(self, name: str, partitions: Mapping[tuple[str, ...], str]) -> None:
        self.note(f"add_partitions {sorted(partitions)}")

    def change_partitions(self, name: str, partitions: Mapping[tuple[str, ...], str]) -> None:
        raise AssertionError("the table is new")

    def drop_partitions(self, name: str, partitions: Sequence[tuple[str, ...]]) -> None:
        raise AssertionError("the table is new")

    def close(self) -> None:
        self.note("close")


EXPECTED = [
    *("open default", "create_database", "table trips", "create_table trips trips", "add_partitions [('oslo',), ('rome',)]"),
    *("set_properties trips", "table trips_ro", "table trips_rt", "close"),
]


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    table = HudiTable.create(tmp_path / "trips", SCHEMA, name="trips", keys=["id"], partition_by=["city"])
    table.insert([{"id": 1, "city": "oslo"}, {"id": 2, "city": "rome"}])
    return table


def test_a_registered_catalog_is_asked_in_the_order_of_any_sync(table: HudiTable) -> None:
    catalog: pyhudi.CatalogSync = Calls()
    assert isinstance(catalog, Calls)
    pyhudi.register_catalog("org.mine.Registered", catalog)
    (result,) = table.services.sync(options={TOOL: "org.mine.Registered", "hoodie.meta.sync.custom.address": "here"})
    assert (catalog.calls, catalog.options["hoodie.meta.sync.custom.address"]) == (EXPECTED, "here")
    assert (result.catalog, str(result.tables[0])) == ("org.mine.Registered", "trips created (partitions: 2 added)")


def test_a_class_is_named_by_the_option_of_a_write(table: HudiTable) -> None:
    options = {TOOL: f"{__name__}:Calls", "hoodie.datasource.meta.sync.enable": "true"}
    assert table.upsert([{"id": 3, "city": "oslo"}], options).failed_services == ()
    assert Calls.made[-1] == EXPECTED


@pytest.mark.parametrize("failing", ["open", "create_table", "add_partitions", "set_properties"])
def test_a_catalog_that_fails_is_named_and_closed_and_the_commit_stays(table: HudiTable, failing: str) -> None:
    catalog = Calls(failing)
    pyhudi.register_catalog("org.mine.Failing", catalog)
    with pytest.raises(CatalogError, match=f"refuses {failing}"):
        table.services.sync(options={TOOL: "org.mine.Failing"})
    assert (catalog.calls[-1] == "close") == (failing != "open")
    options = {TOOL: "org.mine.Failing", "hoodie.datasource.meta.sync.enable": "true"}
    result = table.upsert([{"id": 3, "city": "oslo"}], options)
    assert any(f"refuses {failing}" in failure for failure in result.failed_services)
    assert table.count() == 3


def test_options_of_a_catalog_in_python_without_one_are_refused(table: HudiTable) -> None:
    with pytest.raises(OptionError, match=r"hoodie\.meta\.sync\.custom\.address is for a catalog in Python"):
        table.services.sync(options={"hoodie.meta.sync.custom.address": "here"})


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("org.mine.Unknown", "no such tool here"),
        ("no_such_module:Tool", "no catalog can be made of it"),
        (f"{__name__}:SCHEMA", r"no class with a method open_catalog\(options, database\)"),
        ("pathlib:Path", r"no class with a method open_catalog"),
    ],
)
def test_names_of_no_catalog_are_refused_before_anything_is_written(table: HudiTable, name: str, match: str) -> None:
    with pytest.raises(OptionError, match=match):
        table.services.sync(options={TOOL: name})
    with pytest.raises(OptionError, match=match):
        table.upsert([{"id": 3, "city": "oslo"}], {TOOL: name, "hoodie.datasource.meta.sync.enable": "true"})
    assert table.count() == 2
