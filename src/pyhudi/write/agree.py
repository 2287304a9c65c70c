"""Options of a write against the table: what a table was created with cannot be changed by a write.

Rules: `HoodieWriterUtils.validateTableConfig`.
"""

from __future__ import annotations

from pyhudi.errors import OptionError
from pyhudi.spec.options import Options
from pyhudi.spec.table_config import TableConfig

_NAMES = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}


def check_agreement(options: Options, config: TableConfig) -> None:
    """Refuse options that contradict the table.

    Raises:
        OptionError: names the option, the line of hoodie.properties and the value to give.
    """
    properties = config.properties
    for option, line in _LINES.items():
        stated = options.get(option)
        if stated is None:
            continue
        stored = properties.get(line) or properties.get(_OLD_LINES.get(line, ""), "")
        if _normal(stated, line) != _normal(stored, line):
            raise OptionError(
                f"{option}={stated} contradicts table {config.name}, whose .hoodie/hoodie.properties says {line}={stored}. "
                f"Leave the option out or set {option}={stored}."
            )


_LINES = {
    "hoodie.table.name": "hoodie.table.name",
    "hoodie.datasource.write.recordkey.field": "hoodie.table.recordkey.fields",
    "hoodie.datasource.write.partitionpath.field": "hoodie.table.partition.fields",
    "hoodie.table.ordering.fields": "hoodie.table.ordering.fields",
    "hoodie.datasource.write.table.type": "hoodie.table.type",
}
_OLD_LINES = {"hoodie.table.ordering.fields": "hoodie.table.precombine.field"}


def _normal(value: str, line: str) -> str:
    if line == "hoodie.table.type":
        return _NAMES.get(value.strip().lower(), value.strip().upper())
    return ",".join(part.strip().partition(":")[0] for part in value.split(",") if part.strip())
