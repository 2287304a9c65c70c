"""The definitions of a table's indexes, next to the metadata table in `.hoodie/.index_defs/index.json`.

Rules: `HoodieIndexDefinition`, `HoodieIndexMetadata`; docs/format/metadata-table.md#index-definitions. Tables of Hudi 0.x have none,
those of Hudi 1.0 name no version of an index, which means V1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyhudi.errors import CorruptTableError
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage

PATH_PROPERTY = "hoodie.table.index.defs.path"
PATH = ".hoodie/.index_defs/index.json"
#: The time zone of an expression that needs one. It is among the options of a definition; in the file it is stored next to them, since
#: Apache Hudi refuses to write to a table with options that it does not know, and passes over entries that it does not know.
ZONE_OPTION = "timeZone"
_MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """One index: `name` is its partition of the metadata table, `type`, `function` and `options` are Hudi's strings."""

    name: str
    type: str
    function: str
    source_fields: tuple[str, ...]
    options: Mapping[str, str]
    version: int

    @property
    def is_partitioned(self) -> bool:
        """True for a record index with file groups of its own for each partition of the table."""
        return self.options.get("isPartitioned", "false").lower() == "true"


def load_definitions(storage: Storage, config: TableConfig) -> dict[str, IndexDefinition]:
    """Return the definitions by name; empty for a table without the file.

    Raises:
        CorruptTableError: the file is damaged, or the table's properties name one that is not there or not inside the table.
    """
    path = config.properties.get(PATH_PROPERTY, "")
    if not path:
        return {}
    if set(path.split("/")) & {"", ".", ".."}:
        raise CorruptTableError(
            f"{PATH_PROPERTY}={path} in '.hoodie/hoodie.properties' of table {storage.uri} is no file of the table: the properties are "
            "damaged, restore them from hoodie.properties.backup"
        )
    try:
        data = storage.read(path, max_bytes=_MAX_BYTES)
    except FileNotFoundError:
        raise CorruptTableError(f"table {storage.uri} has no file {path}, which its properties name as that of its indexes") from None
    try:
        entries = json.loads(data)["indexDefinitions"]
        return {name: _definition(name, entry) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptTableError(f"file {path} of table {storage.uri} is damaged ({type(error).__name__}: {error})") from None


def render_definitions(definitions: Mapping[str, IndexDefinition]) -> bytes:
    """Return the content of the file. Hudi 1.0 passes over versions of indexes, 1.2 fails where one of an expression is missing."""
    entries = {name: _entry(definition) for name, definition in definitions.items()}
    return json.dumps({"indexDefinitions": entries}, indent=2, separators=(",", " : "), ensure_ascii=False).encode()


def _entry(definition: IndexDefinition) -> dict[str, object]:
    entry: dict[str, object] = {
        "indexName": definition.name,
        "indexType": definition.type,
        "indexFunction": definition.function,
        "sourceFields": list(definition.source_fields),
        "indexOptions": {name: value for name, value in definition.options.items() if name != ZONE_OPTION},
    }
    if ZONE_OPTION in definition.options:
        entry[ZONE_OPTION] = definition.options[ZONE_OPTION]
    return entry | {"version": f"V{definition.version}"}


def _definition(name: str, entry: Mapping[str, Any]) -> IndexDefinition:
    return IndexDefinition(
        name=name,
        type=str(entry.get("indexType") or ""),
        function=str(entry.get("indexFunction") or ""),
        source_fields=tuple(map(str, entry.get("sourceFields") or ())),
        options={str(key): str(value) for key, value in (*(entry.get("indexOptions") or {}).items(), *_zone(entry))},
        version=int(str(entry.get("version") or "V1").removeprefix("V")),
    )


def _zone(entry: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return [(ZONE_OPTION, entry[ZONE_OPTION])] if ZONE_OPTION in entry else []
