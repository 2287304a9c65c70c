"""Which commits name some file groups or partitions: their files are searched as bytes, in a fraction of the time that decoding takes.

Under the table's lock a write looks through every commit that completed while it ran, and most of them have nothing to do with it. In an
Avro container without compression, as Hudi writes them, names are in the file as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from pyhudi.codec.avro.avro_container import MAGIC, SYNC_LENGTH
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import decode_commit_of, read_details
from pyhudi.timeline.timeline import Timeline

#: So many names are searched one by one in less time than the file is divided.
_FEW = 12
#: File ids are UUIDs, or begin with the eight digits of a bucket: so many characters come before their first hyphen.
_FIRST_PART = 8
_end_of = itemgetter(slice(-_FIRST_PART, None))
_CODEC_KEY, _NO_CODEC = b"avro.codec", b"avro.codec\x08null"


@dataclass(frozen=True, slots=True)
class CommitSearch:
    """What a commit is searched for: any of some names, of which file ids are also held by the part before their first hyphen.

    Made by `search_for`. With `within`, a commit has to hold one of these names too.
    """

    names: tuple[bytes, ...] = ()
    ids: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    within: tuple[bytes, ...] = ()

    def load(self, storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> CommitMetadata | None:
        """Return the metadata of a completed commit, deltacommit or replacecommit; None where it has none of the names.

        Errors as in `pyhudi.timeline.instant_details.load_commit_metadata`.
        """
        content = read_details(storage, config, timeline, instant)
        record = _plain_record(content)
        if record is not None and not self.is_found(record):
            return None
        return decode_commit_of(storage, config, instant, content)

    def is_found(self, content: bytes) -> bool:
        """Tell whether bytes hold one of the names; for an id, one of those in `within` as well."""
        if _holds_any(content, self.names):
            return True
        return (not self.within or _holds_any(content, self.within)) and self._holds_an_id(content)

    def _holds_an_id(self, content: bytes) -> bool:
        if len(self.ids) <= _FEW:
            return any(_holds_any(content, ids) for ids in self.ids.values())
        parts = content.split(b"-")
        if self.ids.keys().isdisjoint(map(_end_of, parts)):
            return False
        return any(_holds_any(content, self.ids.get(end, ())) for end in {_end_of(part) for part in parts})


def search_for(names: Collection[str], ids: Collection[str] = (), within: Collection[str] = ()) -> CommitSearch:
    """Return the search for commits that have one of some names.

    Args:
        names: such as partition paths.
        ids: file ids, or their beginnings with the first hyphen. There can be many of them: a commit is searched in the same time.
        within: names of which a commit that has one of `ids` must have one too, such as partition paths; too many of them are left out.

    Example:
        >>> search_for((), ["00000003-"]).is_found(b"00000003-5c2b-4f6e-9d0a-6c1d0f3a7b21-0")
        True
    """
    others, by_first_part = [name.encode() for name in names], dict[bytes, list[bytes]]()
    for text in (one.encode() for one in ids):
        if text.find(b"-") == _FIRST_PART:
            by_first_part.setdefault(text[:_FIRST_PART], []).append(text)
        else:
            others.append(text)
    paths = tuple(path.encode() for path in within) if len(within) <= _FEW else ()
    return CommitSearch(tuple(others), {first: tuple(those) for first, those in by_first_part.items()}, paths)


def _holds_any(content: bytes, names: Collection[bytes]) -> bool:
    for text in names:  # noqa: SIM110 - a generator costs more than the search itself
        if text in content:
            return True
    return False


def _plain_record(content: bytes) -> bytes | None:
    """Return the part of a file in which names are as they are: after the header of an Avro container without compression, that ends as it
    should; None for other files.
    """
    header = content.find(content[-SYNC_LENGTH:])
    if header >= len(content) - SYNC_LENGTH or not content.startswith(MAGIC):
        return None
    return content[header:] if content.find(_CODEC_KEY, 0, header) < 0 or content.find(_NO_CODEC, 0, header) >= 0 else None
