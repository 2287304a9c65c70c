"""Finds few record keys in a base file sorted by them, of whose keys only the pages are decoded that can hold one.

The bounds of pages are in the column index, which has no checksum. So nothing is concluded from bounds that were not compared with the
values of their pages: a key that is not strictly within the bounds of one page is looked for on both sides of where it would be, and what
does not agree leaves the search to the whole column.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.page_rows import ColumnPages, PageRows

#: Of so many rows for each key at least the pages are asked; else most of them hold one.
_ROWS_PER_KEY: Final = 10_000
#: Decoding pages one by one pays up to this share of them.
_SHARE_MAX: Final = 0.5
#: A file has so many stretches of ascending pages at most: a sorted one has one, and few more once rows were appended.
_RUNS_MAX: Final = 8

_Bounds: TypeAlias = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group: the pages of the keys, the bounds of each, and the number of its first row and first page in the file."""

    number: int
    pages: ColumnPages
    bounds: _Bounds
    first_row: int
    first_page: int


def rows_by_pages(file: PageRows, row_counts: Sequence[int], column: str, keys: pa.StringArray) -> tuple[Indices, Indices] | None:
    """Return the rows that hold one of some distinct keys, ascending, and for each the number of its key.

    None where the file is not sorted, has no bounds of pages, or where these are not those of the values: then all keys are to be read.

    Args:
        file: reads pages of the file.
        row_counts: how many rows each row group has.
        column: the column of the keys.
        keys: distinct keys, at least one.
    """
    if sum(row_counts) < len(keys) * _ROWS_PER_KEY:
        return None
    try:
        groups = _groups(file, row_counts, column)
        return None if groups is None else _search(file, groups, column, keys)
    except (CorruptTableError, pa.ArrowInvalid, OSError):
        return None  # what is damaged matters only if the whole column is


def _groups(file: PageRows, row_counts: Sequence[int], column: str) -> list[_Group] | None:
    groups, row, page = list[_Group](), 0, 0
    for number, count in enumerate(row_counts):
        pages = file.pages_of(number, column)
        bounds = None if pages is None else file.bounds(number, column, pages)
        if pages is None or bounds is None:
            return None
        groups.append(_Group(number, pages, bounds, row, page))
        row, page = row + count, page + len(bounds)
    return groups


def _search(file: PageRows, groups: Sequence[_Group], column: str, keys: pa.StringArray) -> tuple[Indices, Indices] | None:
    bounds = [one for group in groups for one in group.bounds]
    runs = _ascending_runs(bounds)
    if runs is None:
        return None
    requested = keys.cast(pa.binary()).to_pylist()
    chosen = np.array(sorted({page for first, last in runs for page in _pages_of_keys(bounds, first, last, requested)}), np.int64)
    if len(chosen) > len(bounds) * _SHARE_MAX:
        return None
    rows, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for group in groups:
        of_group = chosen[np.searchsorted(chosen, group.first_page) : np.searchsorted(chosen, group.first_page + len(group.bounds))]
        for page, values in _page_values(file, group, column, of_group - group.first_page):
            if not _have_bounds(values, group.bounds[page]):
                return None
            indices = pc.index_in(values, value_set=keys)
            rows.append(np.flatnonzero(pc.is_valid(indices).to_numpy()) + group.first_row + group.pages.starts[page])
            numbers.append(indices.drop_null().to_numpy())
    return np.concatenate(rows), np.concatenate(numbers)


def _ascending_runs(bounds: _Bounds) -> list[tuple[int, int]] | None:
    """Return the first page of each stretch in which no page begins before the end of the one before, and the page after its last.

    None for many stretches, and for a page that begins after its own end.
    """
    begins = [0]
    for at, (least, greatest) in enumerate(bounds):
        if least > greatest:
            return None
        if at and least < bounds[at - 1][1]:
            begins.append(at)
            if len(begins) > _RUNS_MAX:
                return None
    return [*zip(begins, [*begins[1:], len(bounds)], strict=True)]


def _pages_of_keys(bounds: _Bounds, first: int, last: int, keys: Iterable[bytes]) -> set[int]:
    """Return the pages of one stretch that tell where some keys are.

    A key strictly within the bounds of a page can be in no other. Of others the pages before and after are read as well, whose values then
    prove that there is no page between them that holds the key.
    """
    pages = set[int]()
    for key in keys:
        begin = bisect_left(bounds, key, first, last, key=lambda one: one[1])  # the first page that does not end before the key
        end = bisect_right(bounds, key, first, last, key=lambda one: one[0])  # the first page that begins after it
        if end - begin == 1 and bounds[begin][0] < key < bounds[begin][1]:
            pages.add(begin)
        else:
            pages.update(range(max(first, begin - 1), min(last, end + 1)))
    return pages


def _page_values(file: PageRows, group: _Group, column: str, numbers: Indices) -> Iterable[tuple[int, pa.ChunkedArray]]:
    """Return the values of some pages of a row group, each with the number of the page.

    Raises:
        CorruptTableError: they are not the pages that the offset index names, or no text.
    """
    if not len(numbers):
        return
    values = file.values(column, group.pages, numbers)
    if values is None or not pa.types.is_string(values.type):
        raise CorruptTableError("the keys are no text")
    begin = 0
    for page, count in zip(numbers.tolist(), group.pages.counts[numbers].tolist(), strict=True):
        yield page, values.slice(begin, count)
        begin += count


def _have_bounds(values: pa.ChunkedArray, bounds: tuple[bytes, bytes]) -> bool:
    """Tell whether some values have these bounds, none of which is shortened."""
    actual = pc.min_max(values.cast(pa.binary()))
    return not values.null_count and (actual["min"].as_py(), actual["max"].as_py()) == bounds
