"""The list of a delete block of version 3: an Avro array of (record key, partition path, ordering value).

Rules: `HoodieDeleteRecordList.avsc`. Read by hand, because the three columns are what a reader wants and the union of
wrappers needs its branches distinguished.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from pyhudi.codec.log.ordering_decode import read_bytes, read_ordering
from pyhudi.codec.log.ordering_encode import encode_ordering
from pyhudi.codec.varint import prefix_length, read_varint, write_varint
from pyhudi.errors import CorruptTableError
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys, OrderingType

#: A delete takes a byte each for the branches of its key, path and ordering value, and one for the key's length.
_LEAST_BYTES = 4
_NULL = b"\x00"
_PRESENT = b"\x02"
#: The ordering value of most deletes, INT 0.
_BY_COMMIT_TIME = b"\x04\x00"


def iter_delete_list(data: bytes, at: int, most: int) -> Iterator[DeletedKeys]:
    """Yield the deletes that are in `data` from `at` to its end, at most `most` at once.

    Raises:
        CorruptTableError: the bytes are not such a list.
        UnsupportedError: an ordering value of a type that this release does not know.
    """
    done = 0
    try:
        while True:
            count, at = read_varint(data, at)
            if count < 0:
                # A block of elements may say its size in bytes; then the count is negated.
                _, at = read_varint(data, at)
                count = -count
            if count == 0:
                break
            if count > (len(data) - at) // _LEAST_BYTES:
                raise CorruptTableError(f"a delete block says that it has {count} deletes in {len(data) - at} bytes")
            for first in range(0, count, most):
                deleted, at = _read_deletes(data, at, min(most, count - first))
                done += len(deleted.keys)
                yield deleted
    except (IndexError, struct.error):
        raise CorruptTableError(f"a delete block ends behind its first {done} deletes") from None
    except (ValueError, ArithmeticError) as error:
        raise CorruptTableError(f"a delete block holds a text or number that is none ({error})") from None
    if at != len(data):
        raise CorruptTableError(f"a delete block has {len(data) - at} bytes behind its {done} deletes")


def _read_deletes(data: bytes, at: int, count: int) -> tuple[DeletedKeys, int]:
    """Return that many deletes and the place behind them."""
    keys: list[str] = []
    paths: list[str | None] = []
    ordering: list[object] = []
    path_raw, path = b"", ""
    for _ in range(count):
        if data[at] != _PRESENT[0]:
            raise CorruptTableError(f"a delete without record key at byte {at} of a delete block")
        raw, at = read_bytes(data, at + 1)
        keys.append(raw.decode())
        branch = data[at]
        if branch == _PRESENT[0]:
            raw, at = read_bytes(data, at + 1)
            if raw != path_raw:
                # Most deletes of a block have one path: keep its text once.
                path_raw, path = raw, raw.decode()
            paths.append(path)
        elif branch == _NULL[0]:
            at += 1
            paths.append(None)
        else:
            raise CorruptTableError(f"a partition path of type {branch} at byte {at} of a delete block")
        if data[at] == _BY_COMMIT_TIME[0] and data[at + 1] == _BY_COMMIT_TIME[1]:
            ordering.append(COMMIT_TIME_DELETE)
            at += 2
        else:
            value, at = read_ordering(data, at)
            ordering.append(value)
    return DeletedKeys(tuple(keys), tuple(paths), tuple(ordering)), at


def encode_delete_list(deleted: DeletedKeys, types: Sequence[OrderingType]) -> bytes:
    """Return the list of some deletes, as one block of elements."""
    parts = [write_varint(len(deleted.keys)) if deleted.keys else b""]
    for key, path, ordering in zip(deleted.keys, deleted.partition_paths, deleted.ordering, strict=True):
        parts += (
            _PRESENT,
            prefix_length(key.encode()),
            _NULL if path is None else _PRESENT + prefix_length(path.encode()),
            encode_ordering(ordering, types),
        )
    return b"".join((*parts, b"\x00"))
