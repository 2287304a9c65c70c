"""Which partitions or files of a table a query reads: folders and patterns of Hadoop.

Rules: `DataSourceReadOptions.READ_PATHS` and `INCR_PATH_GLOB`, Hadoop's `GlobPattern`. A folder stands for all partitions at and below it.
A pattern is matched folder by folder; its last segment may stand for the files of a partition, as in `/trips/*/*` of Hudi's older guides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pyhudi.errors import UsageError

#: Characters by which a path is a pattern.
WILDCARDS: Final = frozenset("*?[]{}")
_MOST_ALTERNATIVES: Final = 1000
_ANY_FILE: Final = ("*", "*.parquet")
_ALTERNATIVES: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class PathScope:
    """Folders and patterns, relative to the table; a partition belongs to the query when one of them holds it.

    Example:
        >>> scope = PathScope(("city=oslo", "*/2026-12-*/*"))
        >>> scope.holds("city=oslo/2026-11-30"), scope.holds("city=rome/2026-12-01"), scope.holds("city=rome/2026-11-30")
        (True, True, False)
    """

    paths: tuple[str, ...]

    def holds(self, partition_path: str) -> bool:
        """Tell whether the rows of a partition belong to the query."""
        return any(_holds(path, partition_path) for path in self.paths)

    def may_hold_below(self, folder: str) -> bool:
        """Tell whether a partition at or below a folder may belong to the query."""
        segments = folder.split("/") if folder else []
        return self.holds(folder) or any(_begins(one, segments) for path in self.paths for one in _alternatives(path))

    def __str__(self) -> str:
        return ", ".join(self.paths)


def _holds(path: str, partition_path: str) -> bool:
    if partition_path == path or partition_path.startswith(f"{path}/"):
        return True
    segments = partition_path.split("/") if partition_path else []
    return any(_matches(one.split("/"), segments) for one in _alternatives(path))


def _matches(pattern: list[str], segments: list[str]) -> bool:
    if len(pattern) == len(segments) + 1 and pattern[-1] in _ANY_FILE:
        pattern = pattern[:-1]
    return len(pattern) <= len(segments) and all(
        _segment_pattern(one).fullmatch(segment) for one, segment in zip(pattern, segments, strict=False)
    )


def _begins(pattern: str, segments: list[str]) -> bool:
    """Tell whether a folder matches the beginning of a longer pattern."""
    parts = pattern.split("/")
    return len(parts) >= len(segments) and all(
        part == segment or _segment_pattern(part).fullmatch(segment) for part, segment in zip(parts, segments, strict=False)
    )


@lru_cache(256)
def _alternatives(path: str) -> tuple[str, ...]:
    """Return the patterns that one with `{a,b}` stands for.

    Raises:
        UsageError: they are too many.
    """
    expanded, remaining = [], [path]
    while remaining:
        one = remaining.pop()
        match = _ALTERNATIVES.search(one)
        if match is None:
            expanded.append(one)
        else:
            remaining += [f"{one[: match.start()]}{choice}{one[match.end() :]}" for choice in match[1].split(",")]
        if len(expanded) + len(remaining) > _MOST_ALTERNATIVES:
            raise UsageError(f"the pattern {path!r:.200} stands for more than {_MOST_ALTERNATIVES} paths: name the partitions in a filter.")
    return tuple(expanded)


@lru_cache(1024)
def _segment_pattern(segment: str) -> re.Pattern[str]:
    return _regular_expression(segment, any_text="[^/]*", any_character="[^/]")


@lru_cache(256)
def file_pattern(glob: str) -> re.Pattern[str]:
    """Return what the whole path of a file must match for `hoodie.datasource.read.incr.path.glob`: its end, and `*` crosses folders.

    Raises:
        UsageError: it stands for too many paths, or a bracket is not closed.

    Example:
        >>> bool(file_pattern("/city=oslo/*").fullmatch("/data/trips/city=oslo/a.parquet"))
        True
    """
    alternatives = (_regular_expression(one, any_text=".*", any_character=".").pattern for one in _alternatives(f"*{glob}"))
    return re.compile("|".join(alternatives), re.DOTALL)


def _regular_expression(glob: str, *, any_text: str, any_character: str) -> re.Pattern[str]:
    result, position = "", 0
    while position < len(glob):
        letter = glob[position]
        end = glob.find("]", position + 2) if letter == "[" else -1
        position += 1
        if letter == "*":
            result += any_text
        elif letter == "?":
            result += any_character
        elif letter == "\\" and position < len(glob):
            result += re.escape(glob[position])
            position += 1
        elif letter == "[" and end < 0:
            raise UsageError(f"the pattern '{glob}' has a '[' without a ']': close it, or write it as '\\['.")
        elif end > 0:
            members = glob[position:end]
            negated, members = members[0] in "^!", members.lstrip("^!") if members[0] in "^!" else members
            result += f"[{'^' if negated else ''}{_class_members(members)}]"
            position = end + 1
        else:
            result += re.escape(letter)
    return re.compile(result, re.DOTALL)


def _class_members(members: str) -> str:
    """Return the characters between brackets for a regular expression; a dash between two makes a range that is not empty."""
    parts = re.sub(r"(.)-(.)", lambda match: match[0] if match[1] <= match[2] else f"{match[1]}{match[2]}", members)
    return re.sub(r"([\\\]\[^&~|])", r"\\\1", parts)
