"""What makes a stored row the same one in two files: key, commit time and sequence number.

A row that a rewrite carries over keeps all three; one that a commit writes gets a sequence number of its own.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.schema.meta_columns import COMMIT_SEQNO, COMMIT_TIME, RECORD_KEY

IDENTITY_COLUMNS: Final = (RECORD_KEY, COMMIT_TIME, COMMIT_SEQNO)


def rows_without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """Return the rows that are not among others, in their order."""
    return rows.filter(pc.invert(is_among(rows, others)))


def is_among(rows: pa.Table, others: pa.Table, strings: pa.Array | None = None, other_strings: pa.Array | None = None) -> pa.BooleanArray:
    """Say which rows are among others; where strings are given, only those whose strings are the same, too."""
    return pc.is_in(_identity(rows, strings), value_set=_identity(others, other_strings))


def _identity(rows: pa.Table, strings: pa.Array | None) -> pa.Array:
    columns = [rows.column(name).cast(pa.string()).combine_chunks() for name in IDENTITY_COLUMNS]
    more = [] if strings is None else [strings]
    return pc.binary_join_element_wise(*columns, *more, "\0", null_handling="replace", null_replacement="")
