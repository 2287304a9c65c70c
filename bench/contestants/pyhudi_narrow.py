"""pyhudi without Spark on the table `N4`."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from bench.narrow_data import NARROW_ROWS, deleted_kind, narrow_rows, replaced_one, replaced_tenth
from pyhudi import HudiTable


class Contestant:
    """A copy-on-write table with default options."""

    def __init__(self, _: Path, work: Path) -> None:
        self.base = work / "pyhudi-narrow"
        self.rows = narrow_rows(np.arange(NARROW_ROWS), seed=1)

    def prepare_load(self, _: int) -> None:
        """Start from an empty table."""
        shutil.rmtree(self.base, ignore_errors=True)
        self.table = HudiTable.create(str(self.base), self.rows.schema, name="n4", keys=("id",))

    def load(self, _: int) -> str:
        """Bulk-insert the whole table."""
        return str(self.table.bulk_insert(self.rows))

    def prepare_one(self, number: int) -> None:
        """The rows are made outside of the measurement."""
        self.batch = replaced_one(number)

    def one(self, _: int) -> str:
        """Replace one row by key."""
        return str(HudiTable.open(str(self.base)).upsert(self.batch))

    def prepare_tenth(self, number: int) -> None:
        """The rows are made outside of the measurement."""
        self.batch = replaced_tenth(number)

    def tenth(self, _: int) -> str:
        """Replace every tenth row by key."""
        return str(HudiTable.open(str(self.base)).upsert(self.batch))

    def delete(self, number: int) -> str:
        """Delete one row in a thousand by condition."""
        return str(HudiTable.open(str(self.base)).delete(where=deleted_kind(number)))
