"""pyhudi without Spark, merge-on-read; compaction runs when it is asked for."""

from __future__ import annotations

import shutil
from typing import ClassVar

from bench.contestants import pyhudi_local
from pyhudi import HudiTable


class Contestant(pyhudi_local.Contestant):
    """The table of `pyhudi_local`, its updates in log files."""

    table_type = "MERGE_ON_READ"
    options: ClassVar = {"hoodie.compact.inline": "false"}

    def prepare_compact(self, _: int) -> None:
        """A copy of the table as it is."""
        self.copy = self.base.with_name("to-compact")
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.base, self.copy)

    def compact(self, _: int) -> str:
        """Schedule and run one compaction."""
        return str(HudiTable.open(str(self.copy)).services.compact())
