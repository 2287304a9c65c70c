"""Which rows stay where a table holds a record key more than once. Rules: `DedupeSparkJob`, `DeDupeType`."""

from __future__ import annotations

import enum
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import UsageError
from pyhudi.kernels.arrays.array_types import Mask
from pyhudi.schema.meta_columns import COMMIT_TIME, RECORD_KEY

#: What `retained_rows` takes.
KEY_COLUMNS: Final = (RECORD_KEY, COMMIT_TIME)
_MOST_NAMED: Final = 3


class DuplicateRule(enum.Enum):
    """How the row that stays is chosen: the newest commit wins; of several rows of that commit, the last one, but for `INSERT`."""

    INSERT = "insert_type"
    UPDATE = "update_type"
    UPSERT = "upsert_type"


def retained_rows(keys: pa.Table, rule: DuplicateRule) -> Mask:
    """Return for each row whether it stays; of each key one does.

    Args:
        keys: the columns `KEY_COLUMNS`, in the order of the files.
        rule: how the row that stays is chosen.

    Raises:
        UsageError: with `INSERT` a key has several rows of its newest commit, between which that rule does not choose.
    """
    codes = _ranks(keys.column(RECORD_KEY))
    commits = _ranks(keys.column(COMMIT_TIME))
    order = np.lexsort((np.arange(len(codes)), commits, codes))
    sorted_codes, sorted_commits = codes[order], commits[order]
    same_as_next = sorted_codes[:-1] == sorted_codes[1:]
    retained = np.ones(len(codes), bool)
    retained[order[:-1][same_as_next]] = False
    if rule is DuplicateRule.INSERT:
        is_last = np.append(~same_as_next, True)[1:] if len(codes) else np.empty(0, bool)
        tied = same_as_next & is_last & (sorted_commits[:-1] == sorted_commits[1:])
        if tied.any():
            _refuse_ties(keys, order[:-1][tied])
    return retained


def duplicated_rows(keys: pa.Table) -> Mask:
    """Return for each row whether another row has its key; `keys` as in `retained_rows`."""
    codes = _ranks(keys.column(RECORD_KEY))
    duplicated: Mask = (np.bincount(codes) > 1)[codes] if len(codes) else np.empty(0, bool)
    return duplicated


def _ranks(column: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return numbers in the order of the values, the same for the same value."""
    ranks: np.ndarray[tuple[int], np.dtype[np.int64]] = pc.rank(column.combine_chunks(), tiebreaker="dense").to_numpy().astype(np.int64)
    return ranks


def _refuse_ties(keys: pa.Table, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    names = ", ".join(f"'{name}'" for name in keys.column(RECORD_KEY).take(pa.array(rows[:_MOST_NAMED])).to_pylist())
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    raise UsageError(
        f"record key {names}{more} has several rows of one commit, between which insert_type does not choose. Nothing was changed; with"
        " upsert_type the last of them stays."
    )
