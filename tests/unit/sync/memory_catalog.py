"""A catalog in memory that can be interrupted at each of its calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence

from pyhudi import CatalogEntry
from pyhudi.errors import CatalogError

Values = tuple[str, ...]


class MemoryCatalog:
    """Implements `pyhudi.CatalogSync`, and provides itself; `before` runs before each call and gets its name."""

    def __init__(self) -> None:
        self.tables: dict[str, CatalogEntry] = {}
        self.values: dict[str, dict[Values, str]] = {}
        self.before: Callable[[str], None] = lambda _: None

    def open_catalog(self, options: Mapping[str, str], database: str) -> MemoryCatalog:
        return self

    def has_database(self) -> bool:
        return True

    def create_database(self) -> None:
        raise AssertionError("there is one")

    def table(self, name: str) -> CatalogEntry | None:
        self.before("table")
        return self.tables.get(name)

    def create_table(self, name: str, entry: CatalogEntry) -> None:
        self.before("create_table")
        if name in self.tables:
            raise CatalogError(f"{name} exists")
        self.tables[name], self.values[name] = entry, {}

    def alter_table(self, name: str, entry: CatalogEntry, *, cascade: bool) -> None:
        self.before("alter_table")
        self.tables[name] = dataclasses.replace(entry, properties={**self.tables[name].properties, **entry.properties})

    def set_properties(self, name: str, properties: Mapping[str, str]) -> None:
        self.before("set_properties")
        entry = self.tables[name]
        self.tables[name] = dataclasses.replace(entry, properties={**entry.properties, **properties})

    def drop_table(self, name: str) -> None:
        self.before("drop_table")
        del self.tables[name], self.values[name]

    def partitions(self, name: str, among: Collection[Values] | None = None) -> dict[Values, str]:
        self.before("partitions")
        return {values: one for values, one in self.values[name].items() if among is None or values in among}

    def add_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        self.before("add_partitions")
        self.values[name] = {**partitions, **self.values[name]}

    def change_partitions(self, name: str, partitions: Mapping[Values, str]) -> None:
        self.before("change_partitions")
        self.values[name] |= partitions

    def drop_partitions(self, name: str, partitions: Sequence[Values]) -> None:
        self.before("drop_partitions")
        self.values[name] = {values: one for values, one in self.values[name].items() if values not in partitions}

    def close(self) -> None:
        pass
