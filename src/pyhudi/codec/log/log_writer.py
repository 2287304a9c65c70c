"""Blocks of a log file as bytes, ready to be appended. The layout is in `log_file`."""

from __future__ import annotations

import struct

from pyhudi.codec.log.log_file import FORMAT_VERSION, MAGIC
from pyhudi.codec.log.log_header import encode_map
from pyhudi.spec.files.log_block import ROLLBACK_COMMAND, BlockHeader, BlockType

_LONG = struct.Struct(">q")
_FRAME = struct.Struct(">qii")
_EMPTY_MAP = bytes(4)


def encode_block(kind: BlockType, header: BlockHeader, content: bytes) -> bytes:
    """Return a whole block, from its magic to its trailing length."""
    encoded = encode_map(header)
    # Counted from behind the size: version, type, header, content size, content, footer, trailing length.
    size = 4 + 4 + len(encoded) + _LONG.size + len(content) + len(_EMPTY_MAP) + _LONG.size
    return b"".join(
        (
            MAGIC,
            _FRAME.pack(size, FORMAT_VERSION, kind),
            encoded,
            _LONG.pack(len(content)),
            content,
            _EMPTY_MAP,
            _LONG.pack(size + len(MAGIC)),
        )
    )


def rollback_block(instant: str, target: str) -> bytes:
    """Return the block by which the rollback `instant` rolls back what `target` wrote before it in the file slice."""
    header = BlockHeader(instant=instant, target_instant=target, command=ROLLBACK_COMMAND)
    return encode_block(BlockType.COMMAND, header, b"")
