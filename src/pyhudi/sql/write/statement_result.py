"""What a writing statement answers: one row of counts, and the same as a log line."""

from __future__ import annotations

import logging

from pyspark.sql import DataFrame

from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.tokens import text_literal
from pyhudi.write.write_result import WriteResult

_LOG = logging.getLogger("pyhudi.sql")


def result_row(statement: Statement, table: str, result: WriteResult) -> DataFrame:
    """Return the counts of a write as a DataFrame of one row.

    `num_ignored_rows` are rows that came late: under event-time ordering the stored row was newer and stayed.
    `instant` is null when nothing matched and so nothing was committed.
    """
    counts = {
        "num_affected_rows": result.inserted + result.updated + result.deleted,
        "num_inserted_rows": result.inserted,
        "num_updated_rows": result.updated,
        "num_deleted_rows": result.deleted,
        "num_ignored_rows": result.late_dropped,
    }
    _LOG.info("%s of %s: %s, instant %s, %.3f s", result.operation, table, counts, result.instant, result.seconds)
    literals = ["CAST(NULL AS BIGINT)" if count is None else f"{count}L" for count in counts.values()]
    literals.append("CAST(NULL AS STRING)" if result.instant is None else text_literal(result.instant))
    return statement.rows([*counts, "instant"], [literals])
