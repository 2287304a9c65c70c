"""Change data capture: how much a table logs of its changes, and the schema of what it logs.

Rules: `HoodieCDCSupplementalLoggingMode`, `HoodieCDCUtils`; docs/format/cdc.md. Apache Hudi takes the mode in any case.
"""

from __future__ import annotations

import enum
import json
from typing import Any

from pyhudi.errors import UnsupportedError
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig

#: What became of a record.
INSERTED = "i"
UPDATED = "u"
DELETED = "d"

#: Suffix of the names of log files that hold changes.
CHANGE_LOG_SUFFIX = ".cdc"


class LoggingMode(enum.StrEnum):
    """What a log of changes holds of each: its key, also the image before, also the image after."""

    OP_KEY_ONLY = "OP_KEY_ONLY"
    DATA_BEFORE = "DATA_BEFORE"
    DATA_BEFORE_AFTER = "DATA_BEFORE_AFTER"


def logging_mode(config: TableConfig) -> LoggingMode | None:
    """Return how a table logs its changes; None when it does not.

    Raises:
        UnsupportedError: the table names a mode that is not known.
    """
    if config.properties.get(keys.CDC_ENABLED, "").lower() != "true":
        return None
    text = config.properties.get(keys.CDC_MODE) or LoggingMode.DATA_BEFORE_AFTER
    try:
        return LoggingMode(text.upper())
    except ValueError:
        raise UnsupportedError(f"table {config.name} has {keys.CDC_MODE}={text}; it can be {', '.join(LoggingMode)}.") from None


def change_schema(mode: LoggingMode, table_json: str) -> str:
    """Return the Avro schema of the entries of a log of changes, `table_json` being that of the data columns.

    Example:
        >>> change_schema(LoggingMode.OP_KEY_ONLY, "{}")
        '{"type":"record","name":"Record","fields":[{"name":"op","type":["string","null"]},{"name":"record_key","type":["string","null"]}]}'
    """
    if mode is LoggingMode.OP_KEY_ONLY:
        fields = [{"name": name, "type": ["string", "null"]} for name in ("op", "record_key")]
        return _dump({"type": "record", "name": "Record", "fields": fields})
    table = json.loads(table_json)
    namespace = {"namespace": table["namespace"]} if "namespace" in table else {}
    # The image's type is in the namespace of the entry, whose name for it the second image repeats.
    image = {key: value for key, value in table.items() if key != "namespace"}
    types: dict[str, Any] = {"op": "string", "record_key": "string", "before": image}
    if mode is LoggingMode.DATA_BEFORE_AFTER:
        types = {"op": "string", "ts_ms": "string", "before": image, "after": table["name"]}
    entries = [{"name": name, "type": ["null", kind], "doc": "", "default": None} for name, kind in types.items()]
    return _dump({"type": "record", "name": "CDC", **namespace, "doc": "", "fields": entries})


def _dump(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)
