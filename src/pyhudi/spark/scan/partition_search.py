"""Which partitions pass Spark's partition filters, found with as few listings as the layout allows.

The folders that can be partitions are known by name before any of them is listed. A folder whose values fail the
filters is still looked into when a value with slashes, which makes deeper folders, could pass below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from pyhudi.errors import CorruptTableError, KeyFieldError
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.scan.default_partitions import PartitionSet
from pyhudi.spark.scan.directories import PartitionValues, Strings
from pyhudi.spark.scan.prefix_filters import PrefixTest, prefix_test

_OLD_DEFAULT = "default"


class PartitionSearch:
    """Finds partitions of one snapshot; filters come later, and more than once."""

    def __init__(
        self,
        session: SparkSession,
        snapshot: Snapshot,
        schema: StructType,
        values: PartitionValues,
        partitions: PartitionSet | None = None,
    ) -> None:
        """Prepare; nothing is listed yet.

        Args:
            session: The session whose filters will come.
            snapshot: What is read.
            schema: The partition columns that take their values from the paths.
            values: Evaluates filters on these columns.
            partitions: Those that are searched, all by default.
        """
        self._session = session
        self._snapshot = snapshot
        self._schema = schema
        self._values = values
        self._partitions = partitions

    def everything(self) -> list[tuple[str, Strings]]:
        """Return all partitions with the strings of their values."""
        below = (path for folder in self._folders() for path in self._snapshot.partitions_below(folder))
        return [(path, self._strings(path)) for path in below if self._is_searched(path)]

    def matching(self, filters: JavaObject) -> list[tuple[str, Strings]]:
        """Return the partitions that pass the filters, a Scala Seq that is not empty."""
        regular: dict[str, Strings] = {}
        deeper: list[str] = []
        for folder in self._folders():
            try:
                regular[folder] = self._strings(folder)
            except CorruptTableError:  # part of a longer path
                deeper.append(folder)
        passed = self._filter_partitions(regular, filters)
        deeper += self._with_room_below([folder for folder in regular if folder not in passed], regular, filters)
        nested: dict[str, Strings] = {}
        hits: list[tuple[str, Strings]] = []
        for folder in (*passed, *deeper):
            for path in self._snapshot.partitions_below(folder):
                if not self._is_searched(path):
                    continue
                if path != folder:
                    nested[path] = self._strings(path)
                elif path in passed:
                    hits.append((path, regular[path]))
        return hits + [(path, nested[path]) for path in self._filter_partitions(nested, filters)]

    def _folders(self) -> Iterator[str]:
        """Yield the folders at and below which partitions may be."""
        partitions = self._partitions
        return (one for one in self._snapshot.partition_folders if partitions is None or partitions.may_hold_below(one))

    def _is_searched(self, path: str) -> bool:
        return self._partitions is None or self._partitions.holds(path)

    def _filter_partitions(self, partitions: dict[str, Strings], filters: JavaObject) -> dict[str, None]:
        """Return the paths that pass, in order."""
        if not partitions:
            return {}
        names = list(partitions)
        return {names[position]: None for position in self._values.matching(list(partitions.values()), filters)}

    def _with_room_below(self, failed: list[str], strings: dict[str, Strings], filters: JavaObject) -> list[str]:
        """Return, of folders whose own values failed, those below which a value with slashes could pass."""
        config = self._snapshot.config
        if config.slash_dates:
            return failed
        slashes = self._columns_with_slashes()
        if not slashes or not failed:
            return []
        last = self._schema.fields[-1].name
        if len(config.partition_fields) > 1 and not config.hive_style:
            return failed  # such a path is not to be taken apart at all; reading it says so
        if last not in slashes or last != config.partition_fields[-1]:
            return []
        on_last, on_others = self._by_columns(filters, last)
        if on_others:
            others = jvm.java_class(self._session, "org.apache.spark.api.python.PythonUtils").toSeq(on_others)
            failed = list(self._filter_partitions({folder: strings[folder] for folder in failed}, others))
        label = f"{last}=" if config.hive_style else ""
        return [folder for folder in failed if all(passes(f"{folder.rsplit('/', 1)[-1].removeprefix(label)}/") for passes in on_last)]

    def _by_columns(self, filters: JavaObject, last: str) -> tuple[list[PrefixTest], list[JavaObject]]:
        """Return the filters on the last column alone, and those on other columns alone; mixed ones decide nothing."""
        on_last: list[PrefixTest] = []
        on_others: list[JavaObject] = []
        for condition in jvm.items_of(filters):
            names = {attribute.name() for attribute in jvm.items_of(condition.references().toSeq())}
            if names == {last}:
                on_last.append(prefix_test(self._session, condition))
            elif last not in names:
                on_others.append(condition)
        return on_last, on_others

    def _columns_with_slashes(self) -> set[str]:
        """Return the partition columns whose values may hold a slash and make more than one folder."""
        if self._snapshot.config.url_encode:
            return set()
        return {field.name for field in self._schema.fields if isinstance(field.dataType, StringType)}

    def _strings(self, path: str) -> Strings:
        """Return the strings of the shown columns.

        Raises:
            CorruptTableError: the path does not hold one value for each partition field.
        """
        config = self._snapshot.config
        if not self._schema.fields:
            return ()
        try:
            values = config.partition_values(path)
        except KeyFieldError as error:
            raise CorruptTableError(f"table {self._snapshot.storage.uri}: {error}") from error
        by_field = dict(zip(config.partition_fields, values, strict=True))
        return tuple(_text(field, by_field[field.name]) for field in self._schema.fields)


def _text(field: StructField, text: str | None) -> str | None:
    """Return the text of a value: `default` of a number or date is what Hudi before 0.12 wrote for null; a text it may be."""
    return None if text == _OLD_DEFAULT and not isinstance(field.dataType, StringType) else text
