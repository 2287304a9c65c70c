"""Mutated inputs for each parser of bytes and names that a table holds: a value or a typed error, at once.

`test_parser_fuzz` does a few hundred of each in each run of the tests, `python -m scripts.fuzz_parsers` as many as wanted. Log files have a
fuzzer of their own (`log_fuzz`), which knows how blocks follow each other.
"""

from __future__ import annotations

import random
import struct
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pyhudi.codec.actions.action_files import decode
from pyhudi.codec.actions.commit_metadata import decode_commit
from pyhudi.codec.actions.lsm_manifest import decode_manifest
from pyhudi.codec.avro.avro_container import decode_container
from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.codec.log.log_content import avro_records, decode_deletes, encode_avro_content, encode_deletes
from pyhudi.codec.log.roaring_positions import decode_positions, encode_positions
from pyhudi.codec.partition_metafile import parse as parse_metafile
from pyhudi.errors import HudiError
from pyhudi.index.bucket_resizing import parse_nodes
from pyhudi.javacompat.properties import parse_properties
from pyhudi.metadata_table.format.index_definitions import PATH, load_definitions
from pyhudi.spec.files.delete_record import DeletedKeys, OrderingType
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.files.marker import parse_marker
from pyhudi.spec.files.partition_path import check as check_partition
from pyhudi.spec.files.partition_path import unescape_value
from pyhudi.spec.instant import Action, State, parse_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from tests.tables import FIXTURES
from tests.unit.codec.hfiles import made, open_hfile
from tests.unit.codec.test_hostile_action_files import AVRO, JSON

MIB: Final = 1 << 20
_NUMBERS: Final = (0, 1, -1, 7, 255, 2**15, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))


@dataclass(frozen=True)
class Parser:
    """A parser, and inputs that it takes."""

    parse: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


@dataclass
class Outcome:
    """What the inputs of one parser did, and each that broke a rule."""

    inputs: int = 0
    size: int = 0
    errors: int = 0
    slowest_s: float = 0.0
    broken: list[tuple[str, bytes]] = field(default_factory=list)


def _of_text(parse: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: parse(data.decode("latin-1"))


def _read_hfile(data: bytes) -> object:
    reader = open_hfile(data)
    return [*reader.get_many([b"row-003", b"row-090"]), *reader.entries()]


def _of_services() -> Iterator[tuple[str, Parser]]:
    """Yield a parser for each kind of file that services of Apache Hudi have left on the timelines of the fixtures."""
    seeds: dict[tuple[Action, State], set[bytes]] = defaultdict(set)
    for table in ("cleaned_and_archived_v9", "clustered_v9", "merge_on_read_archived_v9", "cleaned_and_archived_v6"):
        with zipfile.ZipFile(FIXTURES / "apache_hudi" / f"{table}.zip") as files:
            for path in files.namelist():
                folder, _, name = path.rpartition("/")
                layout = 2 if folder.endswith("/timeline") else 1
                instant = parse_instant(name, layout) if folder.endswith((".hoodie/timeline", ".hoodie")) else None
                if instant is not None and files.getinfo(path).file_size:
                    seeds[instant.action, instant.state].add(files.read(path))
    for (action, state), data in sorted(seeds.items()):
        yield f"{action.value} {state.name.lower()}", Parser(partial(decode, action, state), tuple(sorted(data)))


def _read_definitions(data: bytes) -> object:
    storage = MemoryStorage()
    storage.create(PATH, data)
    return load_definitions(storage, TableConfig(parse_properties(_PROPERTIES)))


def _read_bloom(kind: BloomType) -> Callable[[bytes], object]:
    return lambda data: BloomFilter.decode(data.decode("latin-1"), kind).might_contain("key")


def _bloom(kind: BloomType) -> bytes:
    bloom = BloomFilter.empty(kind, entries=10, fpp=0.01, max_entries=20)
    for number in range(12):
        bloom.add(f"key-{number}")
    return bloom.encode().encode()


_CELLS: Final = [(f"row-{number:03}".encode(), f"value-{number}".encode()) for number in range(100)]
_DELETES: Final = encode_deletes(DeletedKeys(("a", "b"), ("p=1", ""), ((7, "x"), (8, "y"))), [OrderingType.LONG, OrderingType.STRING])
_PROPERTIES: Final = (
    b"#c\nhoodie.table.name=t\nhoodie.table.version=9\nhoodie.table.type=MERGE_ON_READ\nhoodie.timeline.layout.version=2\n"
    b"\\u0041\\=b=\\\n c\n"
    b"hoodie.table.index.defs.path=.hoodie/.index_defs/index.json\n"
)
_METAFILE: Final = b"#partition metadata\n#Mon Jan 01 00:00:00 UTC 2026\ncommitTime=20260101000000000\npartitionDepth=1\n"
_DEFINITION: Final = (
    b'{"indexDefinitions": {"secondary_index_a": {"indexName": "secondary_index_a", "indexType": "secondary_index",'
    b' "indexFunction": "identity", "sourceFields": ["city"], "indexOptions": {}, "version": "V2"}}}'
)
_NAMES: Final = (
    b"f-0_0-1-2_20260101000000000.parquet",
    b".f-0_20260101000000000.log.1_0-1-2",
    b".f-0_20260101000000000.log.1_0-1-2.cdc",
    b"20260101000000000_20260101000001000.commit",
    b"20260101000000000.deltacommit.inflight",
    b"p=1/f-0_0-1-2_20260101000000000.parquet.marker.CREATE",
)

PARSERS: Final[Mapping[str, Parser]] = {
    **dict(_of_services()),
    "commit": Parser(decode_commit, (AVRO, JSON)),
    "Avro container": Parser(decode_container, (AVRO,)),
    "archive manifest": Parser(decode_manifest, (b'{"files":[{"fileName":"1_2_0.parquet","fileLen":10}]}',)),
    "HFile": Parser(_read_hfile, (made(_CELLS, block_bytes=800),)),
    "Avro block": Parser(lambda data: [bytes(one) for one in avro_records(data)], (encode_avro_content([b"a", b"bc"]),)),
    "delete block": Parser(decode_deletes, (_DELETES,)),
    "record positions": Parser(_of_text(lambda text: decode_positions(text, 200_000)), (encode_positions([0, 3, 70_000]).encode(),)),
    "bloom filter": Parser(_read_bloom(BloomType.SIMPLE), (_bloom(BloomType.SIMPLE),)),
    "dynamic bloom filter": Parser(_read_bloom(BloomType.DYNAMIC_V0), (_bloom(BloomType.DYNAMIC_V0),)),
    "properties": Parser(lambda data: TableConfig(parse_properties(data)).layout, (_PROPERTIES,)),
    "partition metadata": Parser(parse_metafile, (_METAFILE,)),
    "index definitions": Parser(_read_definitions, (_DEFINITION,)),
    "hashing nodes": Parser(
        _of_text(parse_nodes), (b'[{"value":5,"fileIdPrefix":"1b4e28ba-2fa1-11d2-883f-0016d3cca427","tag":"REPLACE"}]',)
    ),
    "names of base files": Parser(_of_text(parse_base_file_name), _NAMES),
    "names of log files": Parser(_of_text(parse_log_file_name), _NAMES),
    "names of instants": Parser(_of_text(lambda text: [parse_instant(text, layout) for layout in (1, 2)]), _NAMES),
    "markers": Parser(_of_text(parse_marker), _NAMES),
    "partition paths": Parser(_of_text(check_partition), (b"a=1/b=%2F..", b"2026/01/01")),
    "escaped values": Parser(_of_text(unescape_value), (b"a%2Fb%25%zz",)),
}


def fuzz(parser: Parser, inputs: int, seed: int) -> Outcome:
    """Parse that many mutated inputs."""
    chance, outcome = random.Random(seed), Outcome()
    for _ in range(inputs):
        data = chance.choice(parser.seeds)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            data = chance.choice(_MUTATIONS)(chance, data)
        _attempt(parser, data, outcome)
    return outcome


def _attempt(parser: Parser, data: bytes, outcome: Outcome) -> None:
    began = time.process_time()
    try:
        parser.parse(data)
    except HudiError:
        outcome.errors += 1
    except Exception as error:  # noqa: BLE001 - any other error is what is looked for
        outcome.broken.append((f"{type(error).__name__}: {error}", data))
    seconds = time.process_time() - began
    if seconds > 0.5 + len(data) / MIB:
        outcome.broken.append((f"{seconds:.2f} s for {len(data)} bytes", data))
    outcome.slowest_s = max(outcome.slowest_s, seconds)
    outcome.inputs += 1
    outcome.size += len(data)


def _position(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _change(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(chance.choice((1, 1, 2, 4))):
        changed[chance.randrange(len(changed))] ^= chance.choice((1 << chance.randrange(8), chance.randrange(1, 256)))
    return bytes(changed)


def _forge(chance: random.Random, data: bytes) -> bytes:
    """Write a number over anything, in Java's order, as a varint or as text."""
    value, at = chance.choice(_NUMBERS), _position(chance, data)
    zigzag, varint = (value << 1) ^ (value >> 63), bytearray()
    while zigzag >= 0x80:
        varint.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    varint.append(zigzag)
    forms = (struct.pack(">q", value), struct.pack(">i", max(min(value, 2**31 - 1), -(2**31))), bytes(varint), str(value).encode())
    packed = chance.choice(forms)
    return data[:at] + packed + data[at + len(packed) :]


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: _position(chance, data)]


def _cut_out(chance: random.Random, data: bytes) -> bytes:
    begin, end = sorted((_position(chance, data), _position(chance, data)))
    return data[:begin] + data[end:]


def _insert(chance: random.Random, data: bytes) -> bytes:
    at = _position(chance, data)
    text = (b"../", b"/", b"\\", b"\0", b"%2e", b"=", b"_", b".", b"{", b"]", b'"', b"\xff" * 9, b"9" * 30)
    return data[:at] + chance.choice((*text, chance.randbytes(chance.randrange(1, 20)))) + data[at:]


def _repeat(chance: random.Random, data: bytes) -> bytes:
    begin, end = sorted((_position(chance, data), _position(chance, data)))
    return data[:end] + data[begin:end] * chance.choice((1, 2, 9)) + data[end:]


_MUTATIONS: Final = (_change, _change, _forge, _forge, _cut, _cut_out, _insert, _repeat)
