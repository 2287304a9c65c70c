"""The files of a snapshot as Spark's `FileIndex`: Spark's own Parquet scan asks it, while planning, what to read.

The class `HudiFiles` in the JVM precedes it, and answers by itself which of two read the same files (`java/hudi/HudiFiles.java`).
Spark calls these methods through py4j, on the driver only; tasks get names and sizes of files. Partition filters
arrive with the call, whenever the user added them, so a partition that they exclude is never listed. Design:
docs/design/0020-spark-scan.md.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from pyhudi.cache import cached_property
from pyhudi.errors import CorruptTableError
from pyhudi.read.filter.condition import operands
from pyhudi.read.skipping.data_skipping import Skipping, explain_pruning
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.meta_columns import with_meta_columns
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.error_translation import propagate_errors
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.store_access import hadoop_base, prepare_reads, share_store_settings
from pyhudi.spark.scan.catalyst_condition import condition_of
from pyhudi.spark.scan.converted_numbers import FORM
from pyhudi.spark.scan.default_partitions import PartitionSet
from pyhudi.spark.scan.delta_files import delta_folder
from pyhudi.spark.scan.directories import Directory, PartitionValueError, Strings, partition_values
from pyhudi.spark.scan.partition_search import PartitionSearch
from pyhudi.spark.scan.promoted_files import PromotedPart, quote_name
from pyhudi.spark.scan.row_mask import MASK
from pyhudi.spark.scan.schema_versions import VersionPart
from pyhudi.spark.scan.skeleton_scan import HIDDEN, NO_SKELETON, Skeletons, scanned_source
from pyhudi.spark.scan.slice_merge import MergedSlice, merge_slices
from pyhudi.spec.files.bootstrap_source import is_skeleton
from pyhudi.spec.files.file_group import BaseFile, FileSlice
from pyhudi.spec.table.table_keys import BOOTSTRAP_BASE_PATH
from pyhudi.storage.open_storage import open_source_folder
from pyhudi.storage.storage_protocol import Storage

#: Folders that are listed to estimate the size of a table; up to so many give its exact size.
_SAMPLED = 32
#: `FORM` of rows merged from log files.
_OF_TODAY = "0"
#: Which files of a snapshot are scanned together, and under which columns.
ScanPart: TypeAlias = VersionPart | PromotedPart


class SnapshotFileIndex:
    """Answers for one snapshot. Method names and types are those of Spark's interface."""

    class Java:
        """Where py4j looks for what a Python object implements."""

        implements = ("org.apache.spark.sql.execution.datasources.FileIndex",)

    def __init__(
        self,
        session: SparkSession,
        snapshot: Snapshot,
        partition_schema: StructType,
        merge_folder: str | None = None,
        part: ScanPart | None = None,
        partitions: PartitionSet | None = None,
        skeletons: Skeletons = Skeletons.REFUSED,
    ) -> None:
        """Prepare; nothing is listed before Spark asks.

        Args:
            session: The session whose JVM will call.
            snapshot: What to read.
            partition_schema: The partition columns whose values come from the partition paths; empty reads them from
            the files.
            merge_folder: The option `pyhudi.merge.folder`.
            part: Which files are scanned; all by default.
            partitions: Which partitions are scanned; all by default.
            skeletons: Whether skeletons are scanned, and other files with them.
        """
        self._session = session
        self._part = part
        self._partitions = partitions
        self._snapshot = snapshot
        self._merge_folder = merge_folder
        self._in_paths = frozenset(partition_schema.names)
        self._skeletons = skeletons
        hidden = [*form_columns(part), *(HIDDEN if skeletons.are_read else ()), *([MASK] if merges(snapshot) else [])]
        self._schema = StructType([*partition_schema, *hidden])
        self._base = prepare_reads(session, snapshot.storage)
        if skeletons.are_read:
            share_store_settings(session, open_source_folder(snapshot.storage, snapshot.config.properties[BOOTSTRAP_BASE_PATH]))
        self._values = partition_values(session, self._schema.json())
        values = partition_values(session, partition_schema.json())
        self._search = PartitionSearch(session, snapshot, partition_schema, values, partitions)
        self._lock = threading.RLock()
        self._held: dict[FileSlice, MergedSlice] = {}
        self._all: JavaObject | None = None
        self._checked_paths: set[str] = set()

    # --- what Spark calls -------------------------------------------------------------------------------------------

    @propagate_errors
    def listFiles(self, partition_filters: JavaObject, data_filters: JavaObject) -> JavaObject:  # noqa: N802
        """Return `Seq[PartitionDirectory]`; files that indexes rule out for the data filters are not among them."""
        try:
            with self._lock:
                matching = None if partition_filters.isEmpty() else self._search.matching(partition_filters)
                skipping = self._skipping(data_filters)
                if skipping is not None:
                    return self._chosen(self._search.everything() if matching is None else matching, skipping)
                if matching is not None:
                    return self._directories(matching)
                if self._all is None:
                    self._all = self._directories(self._search.everything())
                return self._all
        except PartitionValueError as error:
            raise CorruptTableError(
                f"A partition path of table {self._snapshot.storage.uri} does not hold values of {self._schema.simpleString()}: {error}"
            ) from error

    def rootPaths(self) -> JavaObject:  # noqa: N802
        """Return the paths that EXPLAIN shows: two, since into a relation of one path Spark would insert raw files."""
        return _root_paths(self._session, self._base)

    @propagate_errors
    def inputFiles(self) -> JavaObject:  # noqa: N802
        """Return the URIs of all files as `String[]`."""
        with self._lock:
            uris = [uri for path, _ in self._search.everything() for uri, _ in self._stored(path)]
        pattern = jvm.java_class(self._session, "java.util.regex.Pattern")
        # One call whatever the number of files. NUL is in no path, and `split` leaves out empty strings at the end.
        return pattern.compile("\0").split("\0".join([*uris, ""]) or "\0")

    @propagate_errors
    def sizeInBytes(self) -> int:  # noqa: N802
        """Return the bytes of all files, estimated from some of many partitions; Spark chooses its joins by it."""
        return self._bytes

    def partitionSchema(self) -> JavaObject:  # noqa: N802
        """Return the partition columns as Spark's `StructType`."""
        return jvm.java_class(self._session, "org.apache.spark.sql.types.DataType").fromJson(self._schema.json())

    def toString(self) -> str:  # noqa: N802
        """Return a text that is the same for the same files only."""
        return self._identity

    # --- how it is answered -----------------------------------------------------------------------------------------

    @property
    def location(self) -> str:
        """Where the table is, as Hadoop names it."""
        return self._base

    def explain_pruning(self, partition_filters: JavaObject, data_filters: JavaObject) -> list[tuple[FileSlice, str | None]]:
        """Return all file slices of the snapshot, each with what rules it out for these filters, or None."""
        with self._lock:
            everything = [path for path, _ in self._search.everything()]
            matching = everything if partition_filters.isEmpty() else [path for path, _ in self._search.matching(partition_filters)]
            return explain_pruning(self._snapshot, everything, matching, self._skipping(data_filters))

    def _skipping(self, data_filters: JavaObject) -> Skipping | None:
        """Return what can be asked for these filters; None when they rule nothing out."""
        known = self._columns_of_today()
        if not self._snapshot.query.skips_data or known is None or data_filters.isEmpty():
            return None
        condition = condition_of(data_filters, with_meta_columns(known))
        return Skipping(self._snapshot, condition, nan_is_greatest=True) if any(operands(condition)) else None

    def _columns_of_today(self) -> pa.Schema | None:
        """Return the columns on which filters mean the same for the files that are scanned as for the table; None when there may be none.

        Of files whose columns were widened these are the others. Where columns were renamed, a name may be that of another one today.
        """
        schema = self._snapshot.schema
        if isinstance(self._part, PromotedPart):
            return pa.schema([schema.field(name) for name, value in self._part.values if value == quote_name(name)])
        return schema if self._part is None or self._part.is_today else None

    def _chosen(self, partitions: list[tuple[str, Strings]], skipping: Skipping) -> JavaObject:
        """Return the directories of what indexes leave."""
        by_path: dict[str, list[FileSlice]] = {}
        for one in skipping.choose([path for path, _ in partitions]).slices:
            by_path.setdefault(one.group.partition_path, []).append(one)
        return self._directories([(path, strings) for path, strings in partitions if path in by_path], by_path)

    def _directories(self, partitions: list[tuple[str, Strings]], chosen: Mapping[str, Sequence[FileSlice]] | None = None) -> JavaObject:
        """Return the directories of partitions, with all slices or those chosen of them."""
        self._refuse_pipes([path for path, _ in partitions])
        if not merges(self._snapshot):
            plain = [one for path, strings in partitions for one in self._plain_directories(path, strings, chosen)]
            self._snapshot.check_not_cleaned()
            return self._values.directories(plain)
        slices = [(strings, self._snapshot.slices(path) if chosen is None else tuple(chosen[path])) for path, strings in partitions]
        self._snapshot.check_not_cleaned()
        return self._values.directories(self._merged_directories(slices))

    def _plain_directories(self, path: str, strings: Strings, chosen: Mapping[str, Sequence[FileSlice]] | None) -> Iterator[Directory]:
        """Yield the base files of a partition, those together whose hidden columns have the same values; each skeleton has its own."""
        by_values: dict[Strings, list[tuple[str, int, int]]] = {}
        for file in self._base_files(path, chosen):
            by_values.setdefault(self._hidden_values(file), []).append(self._file(file))
        yield from (Directory((*strings, *values), tuple(files)) for values, files in by_values.items())

    def _refuse_pipes(self, partition_paths: Sequence[str]) -> None:
        """Refuse what is no file where data files are: Spark would open a named pipe and wait for ever.

        A view by listing has seen it. Names from a metadata table are compared with the folders, which tell the kinds of what is in them
        without looking at each. Object stores have files only.

        Raises:
            CorruptTableError: names the path.
        """
        if self._snapshot.metadata_table is None or "://" in self._snapshot.storage.uri:
            return
        for path in partition_paths:
            if path not in self._checked_paths:
                self._snapshot.storage.file_names(path)
                self._checked_paths.add(path)

    def _merged_directories(self, partitions: list[tuple[Strings, tuple[FileSlice, ...]]]) -> Iterator[Directory]:
        """Yield, for each partition, the files all of whose rows count, and each base file of which some do not."""
        merged = self._merged([one for _, slices in partitions for one in slices if one.logs])
        for strings, slices in partitions:
            whole: dict[Strings, list[tuple[str, int, int]]] = {}
            for one in slices:
                delta = merged.get(one)
                base = one.base if one.base is not None and self._scans(one.base) else None
                masked = b"" if delta is None else delta.masked
                if base is not None and masked:
                    yield Directory((*strings, *self._hidden_values(base), base64.b64encode(masked).decode()), (self._file(base),))
                elif base is not None:
                    whole.setdefault(self._hidden_values(base), []).append(self._file(base))
                if delta is not None and delta.files and self._takes_merged_rows:
                    of_delta = whole.setdefault(self._hidden_values(None), [])
                    of_delta += [(file.uri, file.size, file.modified_ms) for file in delta.files]
            yield from (Directory((*strings, *values, ""), tuple(files)) for values, files in whole.items())

    def _merged(self, slices: list[FileSlice]) -> dict[FileSlice, MergedSlice]:
        """Return slices merged. What is here stays: a plan that Spark made may read its files at any time."""
        missing = [one for one in slices if one not in self._held]
        if missing:
            folder = delta_folder(self._session, self._merge_folder)
            self._held |= zip(missing, merge_slices(self._session, self._snapshot, missing, folder), strict=True)
        return self._held

    def _stored(self, path: str) -> Iterator[tuple[str, int]]:
        """Yield URI and size of the table's own files in a partition, log files too; nothing is merged."""
        if not merges(self._snapshot):
            yield from (self._file(file)[:2] for file in self._base_files(path))
            return
        for one in self._snapshot.slices(path):
            if one.base is not None and self._scans(one.base):
                yield self._file(one.base)[:2]
            yield from ((f"{self._base}/{log.path}", log.size) for log in one.logs)

    def _base_files(self, path: str, chosen: Mapping[str, Sequence[FileSlice]] | None = None) -> tuple[BaseFile, ...]:
        selected = None if chosen is None else {one.base for one in chosen[path]}
        files = self._snapshot.files(path)
        return tuple(file for file in files if self._scans(file) and (selected is None or file in selected))

    def _scans(self, file: BaseFile) -> bool:
        """Tell whether a base file belongs to this scan."""
        return self._skeletons.holds(file) and (self._part is None or self._part.holds(file))

    @property
    def _takes_merged_rows(self) -> bool:
        """Whether the rows merged from log files are with this scan."""
        return self._skeletons is not Skeletons.ALONE and (self._part is None or self._part.is_today)

    def _hidden_values(self, file: BaseFile | None) -> Strings:
        """Return the values of the hidden partition columns for a base file, or for rows merged from log files."""
        form: Strings = ()
        if self._part is not None and self._part.forms:
            form = (str(self._part.form_of(file)) if file is not None else _OF_TODAY,)
        if not self._skeletons.are_read:
            return form
        if file is None or not is_skeleton(file.name.instant):
            return (*form, *NO_SKELETON)
        return (*form, f"{self._base}/{file.path}", file.partition_path)

    def _file(self, file: BaseFile) -> tuple[str, int, int]:
        if file.size == 0:  # Spark would take it for a file without rows
            raise CorruptTableError(
                f"Base file {file.path} of table {self._snapshot.storage.uri} has 0 bytes, as no Parquet"
                " file does. table.inspect.verify() names all damaged files; put a good copy of each in its place."
            )
        if not is_skeleton(file.name.instant):
            return f"{self._base}/{file.path}", file.size, file.modified_ms
        if not self._skeletons.are_read:  # Spark would take what it does not hold for null
            raise CorruptTableError(
                f"Base file {file.path} of table {self._snapshot.storage.uri} holds only the meta columns of its rows, as those of a"
                f" bootstrapped table do, and hoodie.properties does not say that it is one: restore {BOOTSTRAP_BASE_PATH} there."
            )
        return scanned_source(self._snapshot.storage, file, self._snapshot.schema, self._in_paths)

    @cached_property
    def _bytes(self) -> int:
        with self._lock:
            folders = self._snapshot.partition_folders
            listed = folders[:: max(1, -(-len(folders) // _SAMPLED))]
            paths = [path for folder in listed for path in self._snapshot.partitions_below(folder)]
            counted = paths if self._partitions is None else filter(self._partitions.holds, paths)
            total = sum(size for path in counted for _, size in self._stored(path))
        return total * len(folders) // max(1, len(listed))

    @cached_property
    def _identity(self) -> str:
        snapshot = self._snapshot
        part = "" if self._part is None else f", {self._part.identity}"
        if self._partitions is not None:
            part += f", {','.join(sorted(self._partitions.in_files)) or 'none'} from files"
        if self._skeletons is not Skeletons.REFUSED:
            part += f", skeletons {self._skeletons.name.lower()}"
        skipping = "" if snapshot.query.skips_data else ", no skipping"
        skipping += "".join(f", no {index}" for index in sorted(snapshot.query.unused_indexes))
        timeline = hashlib.sha256(repr(snapshot.timeline.completed()).encode()).hexdigest()[:16]
        return f"{scans_of(snapshot.storage)}{snapshot.instant}, {snapshot.query.mode}, {timeline}{snapshot.scope}{part}{skipping})"


def form_columns(part: ScanPart | None) -> list[StructField]:
    """Return the hidden partition column that a part of a scan has when its files have several forms."""
    return [FORM] if part is not None and part.forms else []


@lru_cache(maxsize=64)
def _root_paths(session: SparkSession, base: str) -> JavaObject:
    path = jvm.java_class(session, "org.apache.hadoop.fs.Path")
    return jvm.java_class(session, "org.apache.spark.api.python.PythonUtils").toSeq([path(base), path(f"{base}/.hoodie")])


def merges(snapshot: Snapshot) -> bool:
    """Tell whether a scan of the snapshot may meet slices with log files that count."""
    return snapshot.config.is_merge_on_read and snapshot.query.mode == "snapshot"


def scans_of(storage: Storage) -> str:
    """Return how the strings of all file indexes of a table begin."""
    return f"HudiFiles({hadoop_base(storage)}, "
