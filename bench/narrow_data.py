"""The benchmark table `N4`: twenty million rows of four narrow columns, with ascending keys; and what changes of it.

One row: id int64, kind int32 (1,000 values, so that a condition on one of them meets 20,000 rows spread over the table), price double
(10,000 values), city string (50 values). Hudi's meta columns are wider than the data.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

NARROW_ROWS = 20_000_000
KINDS = 1000


def narrow_rows(ids: np.ndarray, seed: int) -> pa.Table:
    """Return the rows of these ids; another seed gives other values under the same keys."""
    random = np.random.default_rng(seed)
    count = len(ids)
    cities = pa.array([f"city-{number:02d}" for number in range(50)])
    return pa.table(
        {
            "id": ids.astype(np.int64),
            "kind": (ids % KINDS).astype(np.int32),
            "price": random.integers(0, 10_000, count) / 100,
            "city": cities.take(pa.array(random.integers(0, 50, count))),
        }
    )


def replaced_one(number: int, rows: int = NARROW_ROWS) -> pa.Table:
    """Return one row with new values, at another place of the table each time."""
    return narrow_rows(np.array([(number * 7_919_113 + rows // 2) % rows]), seed=100 + number)


def replaced_tenth(number: int, rows: int = NARROW_ROWS) -> pa.Table:
    """Return every tenth row with new values."""
    return narrow_rows(np.arange(number, rows, 10), seed=200 + number)


def deleted_kind(number: int) -> str:
    """Return the condition that meets one row in a thousand."""
    return f"kind = {500 + number}"
