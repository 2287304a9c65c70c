"""Log files for the tests of the log format: real ones out of the fixture tables, and small ones made here."""

from __future__ import annotations

import io
import zipfile
from functools import cache

from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock
from tests.tables import NAMES, archive_of

SCHEMA = '{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
INSTANT = "20260101000000000"


@cache
def real_logs() -> dict[str, bytes]:
    """Every log file of the fixture tables, those of their metadata tables too, by table and path."""
    result = {}
    for name in NAMES:
        with zipfile.ZipFile(archive_of(name)) as archive:
            for path in archive.namelist():
                if "__MACOSX" not in path and parse_log_file_name(path.rsplit("/", 1)[-1]):
                    result[f"{name}:{path}"] = archive.read(path)
    return result


def scan(data: bytes, path: str = "p/.f-0_1.log.1_0-1-1") -> list[LogBlock]:
    return list(scan_blocks(io.BytesIO(data), path, len(data)))


def avro_block(content: bytes = b"\0\0\0\3\0\0\0\1\0\0\0\1\2", instant: str = INSTANT) -> bytes:
    """A block with one record of one byte."""
    return encode_block(BlockType.AVRO, BlockHeader(instant=instant, schema_json=SCHEMA), content)
