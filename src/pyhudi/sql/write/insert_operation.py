"""Which operation INSERT and CREATE TABLE AS SELECT run.

`hoodie.datasource.write.operation` comes before `hoodie.spark.sql.insert.into.operation`, and that before the older keys
`hoodie.sql.insert.mode` and `hoodie.sql.bulk.insert.enable` (seen with Apache Hudi 1.2.0; its page "SQL DML").
"""

from __future__ import annotations

from typing import Final

from pyhudi.errors import OptionError
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import Options, resolve, warn_without_effect
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.options.validate_options import OPERATION, OPERATIONS

INTO: Final = "hoodie.spark.sql.insert.into.operation"
_DUPLICATES: Final = "hoodie.datasource.insert.dup.policy"
_MODE: Final = "hoodie.sql.insert.mode"
_BULK: Final = "hoodie.sql.bulk.insert.enable"
_DELETES: Final = (Operation.DELETE, Operation.DELETE_PARTITION)


def stated_operation(text: str | None) -> Operation | None:
    """Return the operation that `hoodie.datasource.write.operation` states for a statement that adds rows; None for none.

    Deletes have no effect: a setting that was forgotten must not turn an INSERT into a DELETE, as it does in Apache Hudi.

    Raises:
        OptionError: there is no such operation.
    """
    if text is None:
        return None
    name = resolve({OPERATION: text}).text(OPERATION).lower()
    operation = OPERATIONS[name]
    if operation in _DELETES:
        warn_without_effect(OPERATION, f"is {name}, and INSERT and CREATE TABLE AS SELECT add rows: say DELETE FROM, or RESET it")
        return None
    return operation


def operation_of_insert(stated: Operation | None, options: Options, config: TableConfig) -> Operation:
    """Return what INSERT INTO does.

    Raises:
        OptionError: the older keys contradict each other.
    """
    operation = stated or _operation_of_statements(options)
    if operation is None:
        operation = _by_older_keys(options, config)
    # A statement brings no meta columns, so that rows of a keyless table name no record.
    return Operation.INSERT if operation is Operation.UPSERT and not config.record_key_fields else operation


def operation_of_overwrite(stated: Operation | None, *, dynamic: bool) -> Operation:
    """Return what INSERT OVERWRITE does that names no partition by its values."""
    if stated is Operation.INSERT_OVERWRITE or stated is Operation.INSERT_OVERWRITE_TABLE:
        return stated
    return Operation.INSERT_OVERWRITE if dynamic else Operation.INSERT_OVERWRITE_TABLE


def operation_of_new_table(stated: Operation | None, options: Options, *, has_keys: bool) -> Operation:
    """Return by what CREATE TABLE AS SELECT fills the table: a bulk insert, unless one of the first two keys states insert or upsert."""
    operation = stated or _operation_of_statements(options)
    if operation is Operation.UPSERT and has_keys:
        return operation
    return Operation.INSERT if operation in (Operation.INSERT, Operation.UPSERT) else Operation.BULK_INSERT


def policy_of_strict_mode(operation: Operation, options: Options, config: TableConfig) -> dict[str, str]:
    """Return the option that the mode `strict` stands for, which only INSERT knows."""
    is_strict = operation is Operation.INSERT and options.get(INTO) is None and options.text(_MODE).lower() == "strict"
    return {_DUPLICATES: "fail"} if is_strict and config.record_key_fields and options.get(_DUPLICATES) is None else {}


def _operation_of_statements(options: Options) -> Operation | None:
    name = options.get(INTO)
    return None if name is None else OPERATIONS[name.lower()]


def _by_older_keys(options: Options, config: TableConfig) -> Operation:
    mode, bulk, keyless = options.text(_MODE).lower(), options.flag(_BULK), not config.record_key_fields
    if bulk and mode in ("upsert", "strict") and not keyless:
        raise OptionError(f"{_BULK}=true and {_MODE}={mode} contradict each other: a bulk insert looks no keys up.")
    if bulk:
        return Operation.BULK_INSERT
    return Operation.UPSERT if mode == "upsert" else Operation.INSERT
