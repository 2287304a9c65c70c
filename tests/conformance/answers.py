"""What a statement answered, as lines that are the same in every run: rows sorted, times and file names masked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, Final

import pyarrow as pa

OK: Final = ("ok",)
_INSTANT: Final = re.compile(r"(?<!\d)20\d{15}(?!\d)")
_FILE: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-\d+)?(_\d+-\d+-\d+)?")
#: Numbers of stages and tasks, and the machine, of a job that failed: they count what ran before.
_STAGE: Final = re.compile(r" in stage \d.*")
_SIMPLE: Final = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "bool": "boolean",
    "large_string": "string",
    "large_binary": "binary",
    "date32[day]": "date",
}
_LONGEST_ERROR: Final = 160


def rows_answer(rows: pa.Table, masked: Iterable[str], folder: str) -> list[str]:
    """Return the columns with their types, then the rows, sorted; those of DESCRIBE have an order."""
    hidden = frozenset(masked)
    head = ", ".join(f"{field.name} {type_name(field.type)}" for field in rows.schema)
    values = [
        ["*" if field.name in hidden and value is not None else value_text(value) for value in column.to_pylist()]
        for field, column in zip(rows.schema, rows.columns, strict=True)
    ]
    lines = stable([" | ".join(row) for row in zip(*values, strict=True)], folder)
    return [head, *(lines if rows.column_names[:1] == ["col_name"] else sorted(lines))]


def error_answer(message: str, folder: str) -> list[str]:
    """Return an error's first line."""
    (line,) = stable([_STAGE.sub(" in a stage", message.strip().splitlines()[0])], folder)
    return [f"error {line}"[:_LONGEST_ERROR].rstrip()]


def stable(lines: list[str], folder: str) -> list[str]:
    """Return lines with the folder, names of files, and times (by their rank among those of the answer) masked."""
    lines = [_FILE.sub("<file>", line.replace(folder, "{folder}")) for line in lines]
    times = sorted({result for line in lines for result in _INSTANT.findall(line)})
    ranks = {time: f"<time {number}>" for number, time in enumerate(times, 1)}
    return [_INSTANT.sub(lambda result: ranks[result.group()], line).rstrip() for line in lines]


def type_name(kind: pa.DataType) -> str:
    """Return an Arrow type by Spark's name."""
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {type_name(field.type)}' for field in kind)}>"
    if pa.types.is_map(kind):
        return f"map<{type_name(kind.key_type)}, {type_name(kind.item_type)}>"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"array<{type_name(kind.value_type)}>"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    return _SIMPLE.get(str(kind), str(kind))


def value_text(value: Any) -> str:
    """Return a value as text, nested ones as JSON-like text."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case datetime():
            return value.replace(tzinfo=None).isoformat(" ")
        case date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case dict():
            return "{" + ", ".join(f"{name}: {value_text(item)}" for name, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(value_text, value)) + "]"
    return str(value)
