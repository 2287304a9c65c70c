"""Buckets by number: hash modulo count, where the file ids of bucket 7 begin with `00000007`.

Rules: `BucketIdentifier`, `PartitionBucketIndexHashingConfig`, `RegexRule`; docs/format/keys.md#simple-bucket-index,
#bucket-counts-of-partitions.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError, OptionError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_index import Buckets
from pyhudi.javacompat.jackson import parse_json, render_json
from pyhudi.kernels.arrays.bucket_hash import list_hashes
from pyhudi.spec.files.file_group import FileGroupId

#: How many characters of a file id name its bucket.
DIGITS = 8
CONFIGS = ".hoodie/.bucket_index/partition_bucket_index_meta/configs"
_SUFFIX = ".hashing_config"
_FIRST = "00000000000000000"
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class CountRules:
    """How many buckets a partition has: that of the first expression which is found in its path, else `default`.

    Example:
        >>> CountRules(4, (("2026-01-01", 16),)).count("day=2026-01-01")
        16
    """

    default: int
    expressions: tuple[tuple[str, int], ...] = ()

    def count(self, path: str) -> int:
        """Return the number of buckets of a partition."""
        return next((count for expression, count in self.expressions if re.search(expression, path)), self.default)

    @property
    def text(self) -> str:
        """The expressions as options state them."""
        return ";".join(f"{expression},{count}" for expression, count in self.expressions)


@dataclass(frozen=True, slots=True)
class NumberedBuckets:
    """The simple engine. `rules_file` is to be written when the table has no such file yet."""

    fields: tuple[str, ...]
    rules: CountRules
    rules_file: Mapping[str, bytes] | None = None

    def buckets(self, view: FileSystemView, path: str) -> Buckets:  # noqa: ARG002 - other kinds of hashing look at the table
        """Return the buckets of a partition."""
        count = self.rules.count(path)
        beginnings = [f"{number:0{DIGITS}d}" for number in range(count)]
        return Buckets(beginnings, lambda keys: list_hashes(keys, self.fields) % count, dict(self.rules_file or {}))


def parse_expressions(text: str, option: str) -> tuple[tuple[str, int], ...]:
    """Return expressions and counts of `regex,count;regex,count`.

    Raises:
        OptionError: it is no such text, or an expression is none that Java and Python share.
    """
    parsed = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        expression, comma, count = part.rpartition(",")
        if not comma or not count.strip().isdigit() or not int(count):
            raise OptionError(f"{option}={text}: '{part}' is not an expression, a comma and a number of buckets")
        try:
            re.compile(expression)
        except re.error as error:
            raise OptionError(f"{option}={text}: '{expression}' is no regular expression that pyhudi knows: {error}") from None
        parsed.append((expression, int(count)))
    return tuple(parsed)


def load_rules(view: FileSystemView) -> CountRules | None:
    """Return the rules that hold for a table as its timeline shows it; None when it has none.

    Raises:
        CorruptTableError: the file is damaged.
    """
    instants = _committed(view)
    return _parse_rules(view, rules_path(instants[-1])) if instants else None


def _committed(view: FileSystemView) -> list[str]:
    """Return the times of the files that hold, the latest last: those of rescalings that are not pending."""
    pending = {instant.requested for instant in view.timeline.pending()}
    names = (status.name.removesuffix(_SUFFIX) for status in view.storage.list(CONFIGS) if status.name.endswith(_SUFFIX))
    return sorted(name for name in names if name not in pending)


def _parse_rules(view: FileSystemView, path: str) -> CountRules:
    try:
        rules = parse_json(view.storage.read(path, max_bytes=_MAX_BYTES))
        return CountRules(int(rules["defaultBucketNumber"]), parse_expressions(str(rules["expressions"]), "expressions"))
    except (ValueError, KeyError, TypeError, OptionError, CorruptTableError) as error:
        raise CorruptTableError(f"file {path} of table {view.storage.uri} is damaged: {error}") from None


def stored_rules(view: FileSystemView) -> dict[str, CountRules]:
    """Return all rules that a table had, the latest last, by the requested times of the rescalings that stored them.

    Raises:
        CorruptTableError: a file is damaged.
    """
    return {instant: _parse_rules(view, rules_path(instant)) for instant in _committed(view)}


def rules_path(instant: str) -> str:
    """Return the path of the file with the rules that a rescaling stores."""
    return f"{CONFIGS}/{instant}{_SUFFIX}"


def rules_file(rules: CountRules, expressions: str, instant: str = _FIRST) -> dict[str, bytes]:
    """Return path and content of the file with the rules of a table: its first ones, or those of the rescaling at `instant`."""
    content = {
        "expressions": expressions,
        "defaultBucketNumber": rules.default,
        "rule": "regex",
        "version": 1,
        "instant": instant,
    }
    return {rules_path(instant): render_json(content)}


def shared_file_id(beginning: str, path: str, replaced: Collection[FileGroupId]) -> str:
    """Return the file id of a bucket that several writers may begin at the same time: each of them must arrive at the same one.

    Rules: `BucketIdentifier.newBucketFileIdForNBCC`, whose number is always 0. Here it is the first that no replaced file group has: rows
    of a replaced file group are not visible.

    Args:
        beginning: how the file ids of the bucket begin.
        path: the partition path.
        replaced: the file groups of the table that are replaced.

    Example:
        >>> shared_file_id("00000003", "oslo", ())
        '00000003-0000-0000-0000-000000000000-0'
    """
    file_ids = (f"{beginning}-0000-0000-0000-{number:012d}-0" for number in itertools.count())
    return next(file_id for file_id in file_ids if FileGroupId(path, file_id) not in replaced)


def bucket_of(file_id: str) -> int | None:
    """Return the bucket that a file id names, None when it names none."""
    head = file_id[:DIGITS]
    return int(head) if len(head) == DIGITS and head.isascii() and head.isdigit() else None


def names_buckets(groups: Sequence[FileGroupId]) -> bool:
    """Tell whether file groups are buckets: random ids of eight decimal digits that are small numbers do not come about."""
    numbers = [bucket_of(group.file_id) for group in groups]
    return bool(numbers) and all(number is not None and number < _MOST_BUCKETS for number in numbers)


#: Beyond this many buckets a partition is taken for one that another index wrote.
_MOST_BUCKETS = 10_000
