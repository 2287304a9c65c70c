"""ALTER TABLE on columns: ADD COLUMNS, RENAME, ALTER and DROP COLUMN, each one commit without rows.

What is allowed without and with `hoodie.schema.on.read.enable` is in `pyhudi.write.input.alter_columns`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from pyhudi.errors import HudiError, UnsupportedError, with_subject
from pyhudi.spark.catalog.relation_cache import forget, refresh
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.frame_schema import arrow_type
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.spark_types import to_stored_type
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.write.write_target import WriteTarget, open_target
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.write.input.alter_columns import (
    AddColumn,
    AllowNull,
    Change,
    DescribeColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
)

_FIRST: Final = "FIRST"


def alter_columns(statement: Statement) -> DataFrame | None:
    """Run an ALTER TABLE about columns; None when the table is not a Hudi table."""
    entry = statement.hudi_table()
    if entry is None:
        return None
    target = open_target(statement, entry)
    changes = list(_CHANGES[statement.kind](target, statement.plan))
    try:
        apply_changes = alter_schema(target.table, changes, target.options) if changes else None
    except HudiError as error:
        named = (".".join(change.path) for change in changes)
        raise with_subject(error, next((path for path in named if path in str(error)), ".".join(changes[0].path))) from None
    if apply_changes is not None:
        forget(statement.session, entry)
        refresh(statement.session, entry)
    return statement.empty()


def _add_columns(target: WriteTarget, plan: JavaObject) -> Iterator[Change]:
    for column in jvm.items_of(plan.columnsToAdd()):
        path = _parts(column.name())
        if jvm.value_of(column.default()) is not None:
            raise UnsupportedError(f"ALTER TABLE {target.name}: DEFAULT of the column {'.'.join(path)} is not served by Hudi tables.")
        if not column.nullable():
            raise UnsupportedError(
                f"ALTER TABLE {target.name}: the column {'.'.join(path)} cannot be NOT NULL, since the rows there are have no value for it."
            )
        position = jvm.value_of(column.position())
        yield AddColumn(
            path, _type(column.dataType(), path), jvm.value_of(column.comment()), None if position is None else _position(position)
        )


def _rename_column(_: WriteTarget, plan: JavaObject) -> Iterator[Change]:
    yield RenameColumn(_parts(plan.column().name()), plan.newName())


def _drop_columns(target: WriteTarget, plan: JavaObject) -> Iterator[Change]:
    for column in jvm.items_of(plan.columnsToDrop()):
        path = _parts(column.name())
        if not (plan.ifExists() and path[0].lower() not in {name.lower() for name in target.columns}):
            yield DropColumn(path)


def _change_column(target: WriteTarget, plan: JavaObject) -> Iterator[Change]:
    for spec in jvm.items_of(plan.specs()):
        path = _parts(spec.column().name())
        if spec.dropDefault() or jvm.value_of(spec.newDefaultExpression()) is not None:
            raise UnsupportedError(f"ALTER TABLE {target.name}: DEFAULT of the column {'.'.join(path)} is not served by Hudi tables.")
        nullable = jvm.value_of(spec.newNullability())
        if nullable is not None:
            if not nullable:
                raise UnsupportedError(
                    f"ALTER TABLE {target.name}: the column {'.'.join(path)} cannot become NOT NULL: rows there are may have no value."
                )
            yield AllowNull(path)
        if (kind := jvm.value_of(spec.newDataType())) is not None:
            yield RetypeColumn(path, _type(kind, path))
        if (comment := jvm.value_of(spec.newComment())) is not None:
            yield DescribeColumn(path, comment)
        if (position := jvm.value_of(spec.newPosition())) is not None:
            yield MoveColumn(path, _position(position))


def _refuse_replace_columns(target: WriteTarget, _: JavaObject) -> Iterable[Change]:
    raise UnsupportedError(
        f"ALTER TABLE {target.name} REPLACE COLUMNS is not served: DROP COLUMNS and ADD COLUMNS say which column is which."
    )


_CHANGES: Final[dict[str, Callable[[WriteTarget, JavaObject], Iterable[Change]]]] = {
    "AddColumns": _add_columns,
    "RenameColumn": _rename_column,
    "DropColumns": _drop_columns,
    "AlterColumns": _change_column,
    "ReplaceColumns": _refuse_replace_columns,
}
KINDS: Final = frozenset(_CHANGES)


def _parts(names: JavaObject) -> tuple[str, ...]:
    return tuple(jvm.items_of(names))


def _position(position: JavaObject) -> str:
    """Return the column after which the column is placed, empty for FIRST."""
    stated = position.position()
    return "" if stated.toString() == _FIRST else str(stated.column())


def _type(kind: JavaObject, path: tuple[str, ...]) -> pa.DataType:
    column = StructField("c", StructType.fromJson({"type": "struct", "fields": [_as_field(kind)]})["c"].dataType)
    return arrow_type(to_stored_type(StructType([column]))["c"].dataType, ".".join(path))


def _as_field(kind: JavaObject) -> dict[str, object]:
    return {"name": "c", "type": json.loads(kind.json()), "nullable": True, "metadata": {}}
