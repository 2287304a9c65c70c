"""delta-rs (`deltalake` from PyPI) on the table `N4`."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from deltalake import DeltaTable, write_deltalake

from bench.contestants.deltalake import ZSTD
from bench.narrow_data import NARROW_ROWS, deleted_kind, narrow_rows, replaced_one, replaced_tenth


class Contestant:
    """A Delta table that is not partitioned."""

    def __init__(self, _: Path, work: Path) -> None:
        self.base = work / "deltalake-narrow"
        self.rows = narrow_rows(np.arange(NARROW_ROWS), seed=1)

    def prepare_load(self, _: int) -> None:
        """Start from nothing."""
        shutil.rmtree(self.base, ignore_errors=True)

    def load(self, _: int) -> None:
        """Write the whole table."""
        write_deltalake(str(self.base), self.rows, writer_properties=ZSTD)

    def prepare_one(self, number: int) -> None:
        """The rows are made outside of the measurement."""
        self.batch = replaced_one(number)

    def one(self, _: int) -> None:
        """Replace one row by key."""
        self._merge()

    def prepare_tenth(self, number: int) -> None:
        """The rows are made outside of the measurement."""
        self.batch = replaced_tenth(number)

    def tenth(self, _: int) -> None:
        """Replace every tenth row by key."""
        self._merge()

    def delete(self, number: int) -> str:
        """Delete one row in a thousand by condition."""
        return str(DeltaTable(str(self.base)).delete(deleted_kind(number), writer_properties=ZSTD))

    def _merge(self) -> None:
        merger = DeltaTable(str(self.base)).merge(self.batch, "t.id = s.id", source_alias="s", target_alias="t", writer_properties=ZSTD)
        merger.when_matched_update_all().when_not_matched_insert_all().execute()
