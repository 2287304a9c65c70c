"""Runs the pre-commit validators of a write: its files are written, and nothing of it is visible.

Rules: `SparkValidatorUtils.runValidators`. Unlike Apache Hudi's row writer, bulk inserts are validated, too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import pyarrow as pa

from pyhudi.errors import HudiError, ValidationError
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.spec.instant import Instant, State
from pyhudi.table.validation.query_columns import named_columns
from pyhudi.table.validation.query_runner import query_runner
from pyhudi.table.validation.sql_validators import run_sql_validator
from pyhudi.table.validation.staged_rows import StagedWrite, column_names, rows_around
from pyhudi.txn.commit_sequence import reconcile_files
from pyhudi.txn.transaction import Transaction
from pyhudi.write.input.prepare_rows import TableSchema
from pyhudi.write.options.validators import VALIDATORS, PreCommitValidator, Validators

_log = logging.getLogger("pyhudi.write")


def check_engine(validators: Validators) -> None:
    """Refuse SQL validators where nothing runs their queries, before anything is written.

    Raises:
        UnsupportedError: names what to install.
    """
    if validators.sql:
        query_runner(VALIDATORS)


def run_validators(
    validators: Validators,
    txn: Transaction,
    results: Sequence[TaskResult],
    schemas: tuple[TableSchema, TableSchema],
    replaced: Mapping[str, tuple[str, ...]] | None,
) -> None:
    """Run the validators of a write that is about to be committed; one without files is not validated.

    Args:
        validators: those that the options name.
        txn: the write, with the lock of its completion.
        results: what its tasks wrote.
        schemas: those of the table before and after it.
        replaced: the file groups that it replaces.

    Raises:
        ValidationError: a validator refuses the write.
        OptionError: a query cannot be run.
    """
    stats = tuple(result.stat for result in results)
    if not validators or not (stats or replaced):
        return
    reconcile_files(txn.table.storage, txn.instant, stats)
    completed = txn.table.times.next() if txn.table.config.layout > 1 else None
    instant = Instant(txn.instant, txn.action, State.COMPLETED, completed)
    queries = (query.partition("#")[0] for sql in validators.sql for query in sql.queries)
    columns = None if validators.named else named_columns(queries, column_names(txn.table.config, schemas[1]))
    before, after = rows_around(txn.table, *schemas, StagedWrite(instant, stats, replaced or {}), columns)
    try:
        if validators.sql:
            run = query_runner(VALIDATORS)
            for sql in validators.sql:
                run_sql_validator(sql, before, after, run)
        for name, validator in validators.named:
            _run_named(name, validator, before.table, after.table)
    except HudiError as refusal:
        if not validators.only_warns:
            raise
        _log.warning("the write %s of table %s is committed in spite of a validator: %s", txn.instant, txn.table.config.name, refusal)


def _run_named(name: str, validator: PreCommitValidator, before: pa.Table, after: pa.Table) -> None:
    try:
        validator.validate(before, after)
    except Exception as error:
        raise ValidationError(
            f"{VALIDATORS}: {name} refuses the write: {type(error).__name__}: {error}. The write is rolled back."
        ) from error
