"""What `HudiTable.history` returns: an Arrow table that a prompt and a notebook show action by action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from pyhudi.spec.notebook_html import rows_html

#: Actions that are shown at most, the latest ones.
_MOST_ROWS: Final = 20
_COLUMNS: Final = ("requested", "action", "operation", "state", "inserted", "updated", "deleted")


@dataclass(frozen=True, slots=True, repr=False)
class History:
    """The actions of a table, one row each, oldest first.

    It has the methods and columns of the Arrow table `rows`, and everything that reads Arrow streams reads it (`pyarrow.table(history)`,
    `polars.DataFrame(history)`). A prompt and a notebook show its latest actions.

    Attributes:
        rows: the Arrow table.

    Example:
        >>> table.history()
        2 actions
        requested          action       operation  state      inserted  updated  deleted
        20260102030405000  deltacommit  INSERT     completed  3         0        0
        20260102040506000  deltacommit  UPSERT     completed  0         1        0
        >>> table.history().num_rows
        2
    """

    rows: pa.Table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols such as pickling ask for them
            raise AttributeError(name)
        return getattr(self.rows, name)

    def __getitem__(self, key: str | int | slice) -> Any:
        return self.rows[key]

    def __len__(self) -> int:
        return len(self.rows)

    def equals(self, other: object, *, check_metadata: bool = False) -> bool:
        """Tell whether another history, or Arrow table, has the same rows.

        Args:
            other: what `HudiTable.history` returned, or an Arrow table.
            check_metadata: compare the metadata of the schemas, too.

        Example:
            >>> table.history().equals(table.history())
            True
        """
        rows = other.rows if isinstance(other, History) else other
        return isinstance(rows, pa.Table) and self.rows.equals(rows, check_metadata=check_metadata)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        cells = [list(_COLUMNS), *self._latest_rows()]
        widths = [max(len(row[number]) for row in cells) for number in range(len(_COLUMNS))]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
        return "\n".join([self._title, *(lines if len(self) else ())])

    def _repr_html_(self) -> str:
        return rows_html(self._title, _COLUMNS, self._latest_rows())

    @property
    def _title(self) -> str:
        count = "1 action" if len(self) == 1 else f"{len(self)} actions"
        return count if len(self) <= _MOST_ROWS else f"{count}, the latest {_MOST_ROWS}"

    def _latest_rows(self) -> list[list[str]]:
        rows = self.rows.slice(max(0, len(self) - _MOST_ROWS)).to_pylist()
        return [["" if row[name] is None else str(row[name]) for name in _COLUMNS] for row in rows]
