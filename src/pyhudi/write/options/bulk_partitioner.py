"""Bulk inserts laid out by rules of the user's own: the protocol, and where its implementations are found by name.

Rules: `BulkInsertPartitioner`, a Java class of the user's that `hoodie.bulkinsert.user.defined.partitioner.class` names. Here it is a
Python object: registered under a name, or of a class that the option names as `module:Class`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.spec.user_class import user_object

PARTITIONER: Final = "hoodie.bulkinsert.user.defined.partitioner.class"


class BulkInsertPartitioner(Protocol):
    """Spreads the rows of a bulk insert over tasks. Implementations are small picklable values: tasks carry them to other processes."""

    @property
    def sort_columns(self) -> Sequence[str]:
        """The columns by which each task sorts its rows; none to leave them as they come."""
        ...

    def tasks_of(self, rows: pa.RecordBatch, tasks: int) -> Sequence[int] | pa.Array:
        """Return the number of the task of each row, from 0 to `tasks` - 1.

        Args:
            rows: some of the rows, all data columns.
            tasks: how many tasks there are.
        """
        ...


_PARTITIONERS: dict[str, BulkInsertPartitioner] = {}


def register_partitioner(name: str, partitioner: BulkInsertPartitioner) -> None:
    """Lay out bulk inserts that name this partitioner by `partitioner`, in this process and in the tasks that it starts.

    Args:
        name: `hoodie.bulkinsert.user.defined.partitioner.class` as the writes give it.
        partitioner: which task each row goes to, and how tasks sort their rows.

    Example:
        >>> class ByHemisphere:
        ...     sort_columns = ("id",)
        ...     def tasks_of(self, rows, tasks):
        ...         return [0 if latitude < 0 else tasks - 1 for latitude in rows.column("latitude").to_pylist()]
        >>> register_partitioner("com.example.ByHemisphere", ByHemisphere())
    """
    _PARTITIONERS[name] = partitioner


def find_partitioner(name: str) -> BulkInsertPartitioner:
    """Return the partitioner that is registered under a name, or a new one of the class that the name says as `module:Class`.

    Raises:
        OptionError: there is no such module or class, or it is no partitioner.
        UnsupportedError: the name is neither.
    """
    if name in _PARTITIONERS:
        return _PARTITIONERS[name]
    if ":" not in name:
        raise UnsupportedError(
            f"{PARTITIONER}={name} is not served: Java classes are not loaded. Register a Python implementation,"
            " pyhudi.register_partitioner(name, partitioner), name it as module:Class, or give one of Apache Hudi's own partitioners."
        )
    partitioner: BulkInsertPartitioner = user_object(PARTITIONER, name, "tasks_of(rows, tasks)", "partitioner")
    if not hasattr(partitioner, "sort_columns"):
        raise OptionError(f"{PARTITIONER}={name} has no attribute sort_columns.")
    return partitioner


def task_numbers(name: str, partitioner: BulkInsertPartitioner, rows: pa.RecordBatch, tasks: int) -> Indices:
    """Return the number of the task of each row, as the partitioner says.

    Raises:
        OptionError: the partitioner failed, or said something else than one number within bounds for each row.
    """
    try:
        numbers = np.asarray(partitioner.tasks_of(rows, tasks), np.int64)
    except Exception as error:
        raise OptionError(f"{PARTITIONER}={name} failed on {rows.num_rows} rows: {type(error).__name__}: {error}.") from error
    if numbers.shape != (rows.num_rows,):
        raise OptionError(f"{PARTITIONER}={name} gave numbers of shape {numbers.shape} for {rows.num_rows} rows; each row needs one.")
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < tasks:
        raise OptionError(f"{PARTITIONER}={name} gave the numbers {numbers.min()} to {numbers.max()}; there are tasks 0 to {tasks - 1}.")
    return numbers
