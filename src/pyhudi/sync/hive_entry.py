"""What a Hive metastore says of a table, and how it names partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pyhudi.sync.catalog_sync import CatalogColumn, CatalogEntry, Values

MANAGED: Final = "MANAGED_TABLE"
EXTERNAL: Final = "EXTERNAL_TABLE"
_VIEWS: Final = ("VIRTUAL_VIEW", "MATERIALIZED_VIEW")
#: What Hive escapes in the name of a partition: `FileUtils.charToEscape`.
_TO_ESCAPE: Final = frozenset({*map(chr, range(1, 32)), *"\"#%'*/:=?\\\x7f{[]^"})


def entry_of(table: Any) -> CatalogEntry:
    """Return a table of the metastore as an entry of any catalog."""
    storage, serde = table.sd, table.sd.serdeInfo
    return CatalogEntry(
        columns=_columns(storage.cols),
        partition_columns=_columns(table.partitionKeys),
        location=storage.location or "",
        input_format=storage.inputFormat or "",
        output_format=storage.outputFormat or "",
        serde_class=serde.serializationLib or "",
        serde_properties=dict(serde.parameters or {}),
        properties=dict(table.parameters or {}),
        is_managed=table.tableType == MANAGED,
        is_view=table.tableType in _VIEWS,
    )


def partition_name(table: Any, values: Values) -> str:
    """Return the name of a partition of a table, its keys and values escaped as in paths."""
    return "/".join(f"{_escaped(key.name)}={_escaped(value)}" for key, value in zip(table.partitionKeys, values, strict=True))


def _columns(fields: Sequence[Any]) -> tuple[CatalogColumn, ...]:
    return tuple(CatalogColumn(field.name, field.type, field.comment or "") for field in fields or ())


def _escaped(text: str) -> str:
    return "".join(f"%{ord(character):02X}" if character in _TO_ESCAPE else character for character in text)
