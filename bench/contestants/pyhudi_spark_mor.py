"""pyhudi through Spark, merge-on-read."""

from __future__ import annotations

import shutil

from bench.contestants import pyhudi_spark
from pyhudi import HudiTable


class Contestant(pyhudi_spark.Contestant):
    """The table of `pyhudi_spark`, its updates in log files."""

    table_type, suffix = "MERGE_ON_READ", "-mor"

    def prepare_compact(self, _: int) -> None:
        """A copy of the table as it is."""
        self.copy = self.base.with_name("to-compact-spark")
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.base, self.copy)

    def compact(self, _: int) -> None:
        """Schedule and run one compaction by SQL's procedure or, until it is there, by the table's service."""
        HudiTable.open(str(self.copy)).services.compact()
