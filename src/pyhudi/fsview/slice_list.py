"""File slices of large tables, most of which are read at most once: their distinguishing values are held in columns, and a slice is made
when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self, TypeAlias, overload

from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice, LogFile
from pyhudi.spec.files.file_names import parse_base_file_name

#: A base file as a listing shows it: its name, the instant in it, its size in bytes, and when it was modified (epoch milliseconds).
ListedBase: TypeAlias = tuple[str, str, int, int]


def base_file(partition_path: str, listed: ListedBase) -> BaseFile:
    """Return a base file of a partition."""
    name, _, size, modified_ms = listed
    parsed = parse_base_file_name(name)
    assert parsed is not None  # an instant was found in it
    return BaseFile(partition_path, parsed, size, modified_ms)


@dataclass(frozen=True, slots=True)
class FileColumns:
    """Files of several slices, one slice after the other: their partitions, names and instants; `counts` has the files of each slice."""

    paths: Sequence[str]
    names: Sequence[str]
    instants: Sequence[str]
    counts: Sequence[int]

    @classmethod
    def of(cls, slices: Iterable[Sequence[BaseFile | LogFile]]) -> Self:
        """Return the files of slices."""
        by_slice = list(slices)
        files = list(chain.from_iterable(by_slice))
        paths = [file.partition_path for file in files]
        return cls(paths, [str(file.name) for file in files], [file.name.instant for file in files], list(map(len, by_slice)))


class SliceList(Sequence[FileSlice]):
    """File slices of some partitions, which never change.

    Args:
        paths: the partition of each slice.
        file_ids: the file group of each slice.
        entries: each slice; or its base file, when that is all of it.
    """

    def __init__(self, paths: list[str], file_ids: list[str], entries: list[ListedBase | FileSlice]) -> None:
        self.paths = paths
        self.file_ids = file_ids
        self.entries = entries

    @classmethod
    def of(cls, slices: Iterable[FileSlice]) -> Self:
        """Return a list of slices that are made already."""
        entries: list[ListedBase | FileSlice] = list(slices)
        groups = [file_slice.group for file_slice in entries if isinstance(file_slice, FileSlice)]
        return cls([group.partition_path for group in groups], [group.file_id for group in groups], entries)

    @classmethod
    def joined(cls, lists: Iterable[SliceList]) -> Self:
        """Return the slices of several lists."""
        paths: list[str] = []
        file_ids: list[str] = []
        entries: list[ListedBase | FileSlice] = []
        for one in lists:
            paths += one.paths
            file_ids += one.file_ids
            entries += one.entries
        return cls(paths, file_ids, entries)

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> FileSlice: ...
    @overload
    def __getitem__(self, index: slice) -> SliceList: ...
    def __getitem__(self, index: int | slice) -> FileSlice | SliceList:
        if isinstance(index, slice):
            return SliceList(self.paths[index], self.file_ids[index], self.entries[index])
        result, path = self.entries[index], self.paths[index]
        if isinstance(result, FileSlice):
            return result
        return FileSlice(FileGroupId(path, self.file_ids[index]), result[1], base_file(path, result))

    @property
    def made(self) -> list[FileSlice]:
        """The slices that are more than a base file."""
        return [entry for entry in self.entries if isinstance(entry, FileSlice)]

    def take(self, indices: Iterable[int]) -> SliceList:
        """Return the slices at some places."""
        chosen = list(indices)
        paths, file_ids = ([column[index] for index in chosen] for column in (self.paths, self.file_ids))
        return SliceList(paths, file_ids, [self.entries[index] for index in chosen])

    def files(self) -> FileColumns:
        """Return the files of all slices, of each its base file before its log files."""
        bases = [entry for entry in self.entries if isinstance(entry, tuple)]
        if len(bases) == len(self.entries):
            return FileColumns(self.paths, [base[0] for base in bases], [base[1] for base in bases], [1] * len(bases))
        return FileColumns.of(file_slice.logs if file_slice.base is None else (file_slice.base, *file_slice.logs) for file_slice in self)
