"""Contents of Avro data blocks and delete blocks.

Rules: `HoodieAvroDataBlock`, `HoodieDeleteBlock`. Both begin with a version (4 bytes). An Avro block continues with the
number of records, then for each its length (4) and its datum in the schema of the block's header, without container.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

from pyhudi.codec.log.delete_list import encode_delete_list, iter_delete_list
from pyhudi.codec.log.kryo_deletes import decode_kryo_deletes
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.delete_record import DeletedKeys, OrderingType

CONTENT_VERSION = 3
_DELETES_AT_ONCE = 1 << 16

_INT = struct.Struct(">i")
_TWO_INTS = struct.Struct(">ii")


class AvroRecords(Sequence[memoryview]):
    """The datums of a block, in their order. Each is cut out when asked for: a block holds millions of small ones."""

    __slots__ = ("_content", "_starts")

    def __init__(self, content: memoryview, starts: array[int]) -> None:
        self._content = content
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> memoryview: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[memoryview]: ...
    def __getitem__(self, index: int | slice) -> memoryview | Sequence[memoryview]:
        indices = range(len(self))[index]
        if isinstance(indices, range):
            return [self[position] for position in indices]
        return self._content[self._starts[indices] : self._starts[indices + 1] - _INT.size]

    @property
    def starts(self) -> array[int]:
        """Where in the content each record begins; the last one is where another would."""
        return self._starts

    def frame_content(self, first: int, last: int) -> memoryview:
        """Return the bytes of the records from `first` up to `last`, each behind its length as on disk."""
        return self._content[self._starts[first] - _INT.size : self._starts[last] - _INT.size]

    def __iter__(self) -> Iterator[memoryview]:
        content, begin = self._content, self._starts[0]
        for after in self._starts[1:]:
            yield content[begin : after - 4]
            begin = after


def avro_records(content: bytes) -> AvroRecords:
    """Return the datums of an Avro data or CDC block.

    Raises:
        UnsupportedError: the content's version is a later one.
        CorruptTableError: count and lengths do not add up to the content.
    """
    if len(content) < _TWO_INTS.size:
        raise CorruptTableError(f"an Avro block's content of {len(content)} bytes")
    version, count = _TWO_INTS.unpack_from(content)
    if not 1 <= version <= CONTENT_VERSION:
        raise UnsupportedError(f"version {version} of an Avro block's content, pyhudi reads up to {CONTENT_VERSION}")
    starts = array("q")
    add, unpack = starts.append, _INT.unpack_from
    at, size = _TWO_INTS.size, len(content)
    # A datum has at least one byte, so that a forged count ends the loop early.
    for _ in range(count):
        if at + 4 >= size:
            raise CorruptTableError(f"an Avro block says that it has {count} records, its content ends after {len(starts)}")
        (length,) = unpack(content, at)
        at += 4
        add(at)
        if length <= 0 or length > size - at:
            raise CorruptTableError(f"record {len(starts)} of an Avro block has {length} bytes, {size - at} are left")
        at += length
    if count < 0 or at != size:
        raise CorruptTableError(f"an Avro block of {count} records has {size - at} bytes behind them")
    add(at + 4)
    return AvroRecords(memoryview(content), starts)


def encode_avro_content(records: Iterable[bytes]) -> bytes:
    """Return the content of an Avro data block with these datums."""
    parts, count = [b""], 0
    for record in records:
        parts += (_INT.pack(len(record)), record)
        count += 1
    parts[0] = _TWO_INTS.pack(CONTENT_VERSION, count)
    return b"".join(parts)


def iter_deletes(content: bytes, most: int = _DELETES_AT_ONCE) -> Iterator[DeletedKeys]:
    """Yield the deletes of a delete block, at most `most` at once: as Python values they take many times their bytes.

    Raises:
        UnsupportedError: the content's version, or the type of an ordering value, is not known.
        CorruptTableError: the bytes are not such a list.
    """
    if len(content) < _TWO_INTS.size:
        raise CorruptTableError(f"a delete block's content of {len(content)} bytes")
    version, length = _TWO_INTS.unpack_from(content)
    if length != len(content) - _TWO_INTS.size:
        raise CorruptTableError(f"a delete block says that its list has {length} bytes, {len(content) - _TWO_INTS.size} are left")
    if version == CONTENT_VERSION:
        yield from iter_delete_list(content, _TWO_INTS.size, most)
    elif version in (1, 2):
        yield decode_kryo_deletes(content, _TWO_INTS.size, version)
    else:
        raise UnsupportedError(f"version {version} of a delete block's content, pyhudi reads up to {CONTENT_VERSION}")


def decode_deletes(content: bytes) -> DeletedKeys:
    """Return all deletes of a delete block; raises as `iter_deletes` does."""
    parts = list(iter_deletes(content))
    if len(parts) == 1:
        return parts[0]
    return DeletedKeys(
        keys=tuple(chain.from_iterable(part.keys for part in parts)),
        partition_paths=tuple(chain.from_iterable(part.partition_paths for part in parts)),
        ordering=tuple(chain.from_iterable(part.ordering for part in parts)),
    )


def encode_deletes(deleted: DeletedKeys, types: Sequence[OrderingType] = ()) -> bytes:
    """Return the content of a delete block.

    Args:
        deleted: the deletes, in the order of the block's positions if it has any.
        types: what the table's ordering fields are on disk, one a field. Values of None and `COMMIT_TIME_DELETE` need
            none.

    Raises:
        SchemaError: an ordering value is not of its type, or has none.
    """
    payload = encode_delete_list(deleted, types)
    return _TWO_INTS.pack(CONTENT_VERSION, len(payload)) + payload
