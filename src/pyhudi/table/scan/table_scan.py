"""`TableScan`: rows of one state of a table that are read when they are asked for; a pyarrow dataset.

DuckDB and all that takes a pyarrow dataset call `scanner` with the columns and the condition that they need, which reach partitions,
statistics and indexes as those of `HudiTable.to_arrow` do.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from pyhudi.errors import OptionError, SchemaError, UnsupportedError, did_you_mean
from pyhudi.progress import progress_bar
from pyhudi.read.execute import Selection, count_rows, narrow, read_batches, read_table
from pyhudi.table.scan.batch_size import batch_reader, check_batch_size, check_row_count
from pyhudi.table.scan.other_names import OF_SCAN, missing
from pyhudi.table.scan.polars_source import lazy_frame

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: SQL text, or a pyarrow expression.
Condition: TypeAlias = str | pc.Expression


#: Arguments of pyarrow that tune how it reads files, and change no result.
_TUNING: Final = frozenset(
    {"batch_readahead", "fragment_readahead", "fragment_scan_options", "use_threads", "cache_metadata", "memory_pool"}
)


class TableScan(ds.UnionDataset):  # type: ignore[misc]  # pyarrow ships no types
    """Rows of one state of a table, read when they are asked for: a pyarrow dataset, a polars LazyFrame, a table of DuckDB.

    The state is that of when the scan was made, so that it can be read more than once with one result; files that a clean has deleted
    since are an error. Made by `HudiTable.scan`.

    Example:
        >>> scan = table.scan(["id", "fare"])
        >>> scan.to_arrow().num_rows, scan.filter("fare > 8").count_rows()
        (3, 2)
    """

    def __init__(self, selected: Selection) -> None:
        """Make a scan of what a selection states; `HudiTable.scan` is the usual way."""
        self._uri = selected.snapshot.storage.uri
        # Code that reads datasets inside Arrow, below Python, reaches this member, which refuses to be read.
        super().__init__(selected.schema, [_unreadable(self._uri, selected.schema)])
        self._selected = selected

    def __repr__(self) -> str:
        condition = "" if self._selected.condition is None else f", filter={self._selected.condition}"
        return f"TableScan({self._uri!r}, columns={list(self._selected.columns)}{condition})"

    if not TYPE_CHECKING:  # what a type checker reports by itself

        def __getattr__(self, name: str) -> NoReturn:
            raise missing(self, OF_SCAN, name)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a scan cannot be pickled: open the table and scan it in the process that reads")

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows.

        Example:
            >>> table.scan(["fare"]).schema.names
            ['fare']
        """
        return self._selected.schema

    @progress_bar("read")
    def to_arrow(self) -> pa.Table:
        """Return all rows as an Arrow table.

        Raises:
            CorruptTableError: a file of the table is damaged or missing.

        Example:
            >>> table.scan(["id"], "city = 'rome'").to_arrow().to_pylist()
            [{'id': 3}]
        """
        return read_table(self._selected)

    def to_reader(self, batch_size: int | None = None) -> pa.RecordBatchReader:
        """Return the rows as a stream of record batches; memory stays bounded.

        Args:
            batch_size: so many rows in each batch but the last; by default batches are as the files give them.

        Raises:
            OptionError: `batch_size` is no positive number.
            CorruptTableError: a file of the table is damaged or missing; the reader raises it, too.

        Example:
            >>> [batch.num_rows for batch in table.scan().to_reader(batch_size=2)]
            [2, 1]
        """
        return read_batches(self._selected) if batch_size is None else batch_reader(self._selected, batch_size)

    def to_pandas(self) -> pd.DataFrame:
        """Return all rows as a pandas DataFrame; errors as in `to_arrow`.

        Example:
            >>> table.scan(["fare"], "id = 3").to_pandas()["fare"].tolist()
            [9.0]
        """
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.LazyFrame:
        """Return the rows as a polars LazyFrame: polars hands down the columns and predicates of the query when it is collected.

        Raises:
            UnsupportedError: polars is not installed.

        Example:
            >>> import polars
            >>> table.scan().to_polars().filter(polars.col("fare") > 10).select("id").collect()["id"].to_list()
            [2]
        """
        return lazy_frame(self.schema, self.read)

    def read(self, columns: Sequence[str] | None = None, filter: Condition | None = None) -> pa.RecordBatchReader:  # noqa: A002
        """Return rows of the scan as a stream, with fewer columns or under a further condition.

        Args:
            columns: names of columns of the scan; all when None.
            filter: SQL text or a pyarrow expression.

        Raises:
            SchemaError: a column does not exist.
            UsageError: the filter is wrong.

        Example:
            >>> table.scan().read(["id"], "fare > 10").read_all().to_pylist()
            [{'id': 2}]
        """
        return read_batches(self._narrow(columns, filter))

    def scanner(
        self,
        columns: Sequence[str] | Mapping[str, pc.Expression] | None = None,
        filter: Condition | None = None,  # noqa: A002 - pyarrow's name
        batch_size: int | None = None,
        **options: Any,
    ) -> ds.Scanner:
        """Return a pyarrow scanner: what DuckDB asks a dataset for.

        Args:
            columns: names of columns, or expressions by the name of their column; all columns when None.
            filter: a pyarrow expression, or SQL text.
            batch_size: at most so many rows in a batch.
            options: other options of `pyarrow.dataset.Dataset.scanner`, which tune pyarrow's own reading, have no effect.

        Raises:
            SchemaError: a column does not exist.
            UsageError: the filter is wrong, or an option is unknown.

        Example:
            >>> table.scan().scanner(["id"], "fare > 10").to_table().to_pylist()
            [{'id': 2}]
        """
        if unknown := options.keys() - _TUNING:
            raise OptionError(f"a scan has no option '{min(unknown)}'.{did_you_mean(min(unknown), _TUNING)}")
        names = None if isinstance(columns, Mapping) else columns
        reader = self.read(names, filter)
        limits = {} if batch_size is None else {"batch_size": check_batch_size(batch_size)}
        return ds.Scanner.from_batches(reader, columns=columns if isinstance(columns, Mapping) else None, **limits)

    def to_table(self, columns: Any = None, filter: Condition | None = None, **options: Any) -> pa.Table:  # noqa: A002
        """Return rows as an Arrow table; arguments and errors as in `scanner`.

        Example:
            >>> table.scan().to_table({"double": pc.field("fare") * 2}, "id = 3").to_pylist()
            [{'double': 18.0}]
        """
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(self, columns: Any = None, filter: Condition | None = None, **options: Any) -> Any:  # noqa: A002
        """Return rows as an iterator of record batches; arguments and errors as in `scanner`.

        Example:
            >>> sum(batch.num_rows for batch in table.scan().to_batches(["id"]))
            3
        """
        return self.scanner(columns, filter, **options).to_batches()

    def head(self, num_rows: int, columns: Any = None, filter: Condition | None = None, **options: Any) -> pa.Table:  # noqa: A002
        """Return the first rows that are read.

        Args:
            num_rows: at most so many rows.
            columns: as in `scanner`.
            filter: as in `scanner`.
            options: as in `scanner`; errors, too.

        Example:
            >>> table.scan().head(2).num_rows
            2
        """
        return self.scanner(columns, filter, **options).head(check_row_count(num_rows))

    def take(self, indices: Any, columns: Any = None, filter: Condition | None = None, **options: Any) -> pa.Table:  # noqa: A002
        """Return rows by their indices in the order of reading, which two reads of one scan have in common.

        Args:
            indices: an array or list of indices.
            columns: as in `scanner`.
            filter: as in `scanner`.
            options: as in `scanner`; errors, too.

        Example:
            >>> table.scan(["id"]).take([0]).num_rows
            1
        """
        return self.scanner(columns, filter, **options).to_table().take(indices)

    @progress_bar("count")
    def count_rows(self, filter: Condition | None = None, **options: Any) -> int:  # noqa: A002, ARG002 - pyarrow's arguments
        """Return the number of rows; without any filter from the files' footers and the logs alone. Arguments and errors as in `scanner`.

        Example:
            >>> table.scan().count_rows(), table.scan().count_rows("fare > 8")
            (3, 2)
        """
        return count_rows(self._narrow(None, filter))

    def filter(self, expression: Condition) -> TableScan:
        """Return a scan of the rows that a further condition is true for.

        Args:
            expression: a pyarrow expression, or SQL text.

        Raises:
            UsageError: it is no condition over the columns of the table.

        Example:
            >>> table.scan().filter("fare > 8").filter("city = 'rome'").count_rows()
            1
        """
        return TableScan(self._narrow(None, expression))

    def sort_by(self, sorting: Any, **options: Any) -> ds.Dataset:
        """Return the rows as a dataset in memory, sorted. Arguments as in `sort_by` of pyarrow datasets.

        Example:
            >>> table.scan(["fare"]).sort_by("fare").to_table()["fare"].to_pylist()
            [7.5, 9.0, 13.5]
        """
        return ds.dataset(self.to_arrow().sort_by(sorting, **options))

    def join(self, right_dataset: ds.Dataset, keys: Any, right_keys: Any = None, *arguments: Any, **options: Any) -> ds.Dataset:
        """Return the rows joined with those of another dataset, in memory. Arguments as in `join` of pyarrow datasets.

        Example:
            >>> cities = pa.dataset.dataset(pa.table({"city": ["rome"], "country": ["it"]}))
            >>> table.scan(["id", "city"]).join(cities, "city", join_type="inner").to_table()["country"].to_pylist()
            ['it']
        """
        return ds.dataset(self.to_arrow()).join(_in_memory(right_dataset), keys, right_keys, *arguments, **options)

    def join_asof(self, right_dataset: ds.Dataset, *arguments: Any, **options: Any) -> ds.Dataset:
        """Return the rows joined in time with those of another dataset. Arguments as in `join_asof` of pyarrow datasets.

        Example:
            >>> prices = pa.dataset.dataset(pa.table({"at": [9], "price": [2.0]}))
            >>> rows = table.scan(["id", "ts"]).sort_by("ts").join_asof(prices, on="ts", by=[], tolerance=-5, right_on="at", right_by=[])
            >>> rows.to_table()["price"].to_pylist()
            [2.0, 2.0, None]
        """
        return ds.dataset(self.to_arrow()).join_asof(_in_memory(right_dataset), *arguments, **options)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def _narrow(self, columns: Sequence[str] | None, filter: Condition | None) -> Selection:  # noqa: A002
        for name in columns or ():
            if name not in self._selected.columns:
                raise SchemaError(f"the scan of table {self._uri} has no column '{name}'.{did_you_mean(name, self._selected.columns)}")
        return narrow(self._selected, columns, filter)


def _in_memory(dataset: ds.Dataset) -> ds.Dataset:
    return ds.dataset(dataset.to_arrow()) if isinstance(dataset, TableScan) else dataset


def _unreadable(uri: str, schema: pa.Schema) -> ds.Dataset:
    """Return a dataset whose only file refuses to be read."""
    layout = ds.ParquetFileFormat()
    return ds.FileSystemDataset([layout.make_fragment(_RefusingFile(uri))], schema, layout)


class _RefusingFile(io.RawIOBase):
    """What Arrow opens when it reads a scan without its Python methods."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> NoReturn:
        self._refuse()

    def seek(self, offset: int, whence: int = 0) -> NoReturn:  # noqa: ARG002 - the arguments of a file
        self._refuse()

    def read(self, size: int = -1) -> NoReturn:  # noqa: ARG002 - the argument of a file
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(f"Arrow cannot read the scan of table {self._uri} by itself; hand on scan.to_reader() or scan.to_arrow().")
