"""The part of `table.services` that changes how many buckets partitions have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.engine.engine_protocol import Engine
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_numbers import CountRules, stored_rules
from pyhudi.progress import progress_bar
from pyhudi.service.rescaling.rescaling_result import RescalingResult
from pyhudi.service.rescaling.run_rescaling import NewNumbers, plan_rescaling, rescale
from pyhudi.service.service_engine import Progress, service_runner
from pyhudi.table.maintenance.index_services import IndexServices
from pyhudi.table.services_by_options import service_options
from pyhudi.txn.locked_table import table_state


@dataclass(frozen=True, slots=True)
class BucketServices(IndexServices):
    """Numbers of buckets of one table.

    Example:
        >>> table.services.bucket_rules()
        {}
    """

    @progress_bar("rescaling")
    def rescale_buckets(
        self,
        expressions: str,
        *,
        default: int | None = None,
        add: bool = False,
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> RescalingResult:
        """Give partitions other numbers of buckets, on a table that was written with a bucket index of the engine SIMPLE.

        Partitions whose number changes are rewritten, in one commit; rows keep their commit times. Writers wait meanwhile, and should not
        be given `hoodie.bucket.index.partition.expressions` or `hoodie.bucket.index.num.buckets` afterwards: the table stores them.

        Args:
            expressions: `regex,count;regex,count`; the first expression that is found in the path of a partition decides.
            default: the number of buckets of other partitions; by default as it is. Of a table without expressions it is the number that
                the table was written with, which is looked for in its keys if not given.
            add: put the expressions before those of the table, instead of replacing these.
            dry_run: only return which partitions would be rewritten.
            options: `hoodie.*` options, such as `hoodie.bucket.index.hash.field`, if the table was written with it.
            engine: rewrites the partitions; threads of this process by default.
            progress: called with the numbers of partitions done and of all partitions.

        Returns:
            The partitions whose number changes, with both numbers.

        Raises:
            OptionError: an expression is none, or the number of buckets so far contradicts the table.
            UnsupportedError: the table has no buckets of fixed numbers.
            ConflictError: a compaction or clustering is pending.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> import pyarrow as pa
            >>> from pyhudi import HudiTable
            >>> few = HudiTable.create("memory://few-buckets", pa.schema({"id": pa.int64()}), name="few", keys=["id"])
            >>> two = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
            >>> written = few.upsert([{"id": number} for number in range(40)], two)
            >>> few.services.rescale_buckets(".*,4", dry_run=True).partitions
            (RescaledPartition(path='', before=2, after=4),)
        """
        resolved = service_options(self.storage, options)
        new = NewNumbers(expressions, default, add)
        if dry_run:
            return plan_rescaling(table_state(self.storage, self.clock, self.ids), new, resolved)
        try:
            return rescale(service_runner(self.storage, self.clock, self.ids, resolved, engine, progress), new, resolved)
        finally:
            self.refresh()

    def bucket_rules(self) -> dict[str, CountRules]:
        """Return the expressions and numbers of buckets that the table has and had, the latest last, by the instants that set them.

        Raises:
            CorruptTableError: a file with expressions is damaged.

        Example:
            >>> table.services.bucket_rules()
            {}
        """
        state = table_state(self.storage, self.clock, self.ids)
        return stored_rules(FileSystemView(self.storage, state.config, state.timeline))
