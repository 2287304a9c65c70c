"""Catalogs of the user's own, registered under a name, or named by the option as `module:Class`.

Rule: `HoodieSyncTool`, which Apache Hudi makes of the classes in `hoodie.meta.sync.client.tool.class`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from pyhudi.spec.user_class import user_object
from pyhudi.sync.catalog_sync import CatalogSync

TOOL_CLASSES: Final = "hoodie.meta.sync.client.tool.class"
_METHOD: Final = "open_catalog(options, database)"


class CatalogProvider(Protocol):
    """Connects with a catalog of the user's own. `register_catalog` shows one."""

    def open_catalog(self, options: Mapping[str, str], database: str) -> CatalogSync:
        """Return a connection with one database of the catalog, which is closed after the sync.

        Args:
            options: the `hoodie.*` options of the sync or the write, under their canonical names.
            database: the database, in lower case; it need not exist.

        Raises:
            CatalogError: the catalog does not answer. A write stays committed; its result names the sync in `failed_services`.
        """
        ...


_REGISTERED: dict[str, CatalogProvider] = {}


def register_catalog(name: str, provider: CatalogProvider) -> None:
    """Synchronise tables with a catalog of the user's own where `hoodie.meta.sync.client.tool.class` has this name, in this process.

    Args:
        name: as the option gives it; may be the name of a Java class.
        provider: connects with the catalog.

    Example:
        >>> import dataclasses
        >>> class Entries:
        ...     def __init__(self):
        ...         self.tables, self.values = {}, {}
        ...     def open_catalog(self, options, database):
        ...         return self
        ...     def has_database(self):
        ...         return True
        ...     def table(self, name):
        ...         return self.tables.get(name)
        ...     def create_table(self, name, entry):
        ...         self.tables[name], self.values[name] = entry, {}
        ...     def alter_table(self, name, entry, *, cascade):
        ...         self.tables[name] = entry
        ...     def set_properties(self, name, properties):
        ...         entry = self.tables[name]
        ...         self.tables[name] = dataclasses.replace(entry, properties={**entry.properties, **properties})
        ...     def partitions(self, name, among=None):
        ...         known = self.values[name]
        ...         return known if among is None else {one: known[one] for one in among if one in known}
        ...     def add_partitions(self, name, partitions):
        ...         self.values[name].update(partitions)
        ...     def close(self):
        ...         pass
        >>> entries = Entries()
        >>> pyhudi.register_catalog("com.example.EntriesTool", entries)
        >>> (result,) = table.services.sync(options={"hoodie.meta.sync.client.tool.class": "com.example.EntriesTool"})
        >>> entries.tables[table.config.name].columns[0]
        CatalogColumn(name='_hoodie_commit_time', type='string', comment='')
    """
    _REGISTERED[name] = provider


def is_custom(name: str) -> bool:
    """Tell whether a name in the option is that of a catalog of the user's own."""
    return ":" in name or name in _REGISTERED


def catalog_provider(name: str) -> CatalogProvider:
    """Return the provider that is registered under a name, or of the class that it names.

    Raises:
        OptionError: there is no such class, or it has no method `open_catalog`.
    """
    provider: CatalogProvider | None = _REGISTERED.get(name)
    if provider is None:
        provider = user_object(TOOL_CLASSES, name, _METHOD, "catalog")
    return provider
