"""Where the records of incoming rows are in the base file that is rewritten, as far as the index that located them says.

The base file of a file group never changes under its name, so the rows of an index are those of the merge, which then looks for no key.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.write_columns import POSITION_COLUMN


@dataclass(frozen=True, slots=True)
class IncomingPositions:
    """Rows of the base file that are known, ascending, with the number of the incoming row for each; `others` are those to be searched.

    A key may be in several rows of the file, or be new: both have no position.
    """

    positions: Indices
    numbers: Indices
    others: Indices

    @staticmethod
    def of(rows: pa.Table) -> IncomingPositions:
        """Return what the column `_pyhudi_position` says; nothing where rows have none."""
        if POSITION_COLUMN not in rows.schema.names:
            return IncomingPositions(np.empty(0, np.int64), np.empty(0, np.int64), np.arange(rows.num_rows))
        column = pc.fill_null(rows.column(POSITION_COLUMN), -1).to_numpy(zero_copy_only=False)
        numbers = np.argsort(column, kind="stable")
        unknown = int(np.searchsorted(column[numbers], 0))
        return IncomingPositions(column[numbers[unknown:]], numbers[unknown:], np.sort(numbers[:unknown]))

    @property
    def are_all(self) -> bool:
        """True if no key needs to be looked for."""
        return not len(self.others)

    def between(self, begin: int, end: int) -> tuple[Indices, Indices]:
        """Return the known rows from `begin` on and before `end`, counted from `begin`, and the number of the incoming row for each."""
        first, last = np.searchsorted(self.positions, [begin, end])
        return self.positions[first:last] - begin, self.numbers[first:last]
