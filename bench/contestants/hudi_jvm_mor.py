"""Apache Hudi's own Spark bundle, merge-on-read, with its defaults but for inline compaction, which is off."""

from __future__ import annotations

import shutil

from bench.contestants import hudi_jvm


class Contestant(hudi_jvm.Contestant):
    """The table of `hudi_jvm`, its updates in log files."""

    table_type, suffix = "MERGE_ON_READ", "-mor"

    def prepare_compact(self, _: int) -> None:
        """A copy of the table as it is."""
        self.copy = self.base.with_name("to-compact-jvm")
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.base, self.copy)

    def compact(self, _: int) -> None:
        """Schedule and run one compaction."""
        options = "hoodie.compact.inline.max.delta.commits=1"
        self.spark.sql(f"CALL run_compaction(op => 'scheduleandexecute', path => '{self.copy}', options => '{options}')").collect()
