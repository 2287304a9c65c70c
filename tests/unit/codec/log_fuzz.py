"""Mutated log files: made of real ones, read to the last record, and checked.

What must hold for any bytes: the only errors are pyhudi's own; blocks follow each other to the end of the file; a
block that a mutation did not touch is found as before, content included; time and memory follow the input's size.
`test_log_fuzz` does some thousand in each run of the tests, `python -m scripts.fuzz_log` as many as wanted.
"""

from __future__ import annotations

import io
import random
import struct
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pyhudi.codec.log.log_content import avro_records, decode_deletes, encode_avro_content, encode_deletes
from pyhudi.codec.log.log_file import MAGIC, read_content, scan_blocks
from pyhudi.codec.log.log_writer import encode_block, rollback_block
from pyhudi.codec.log.roaring_positions import decode_positions, encode_positions
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys, OrderingType
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock
from tests.tables import FIXTURES
from tests.unit.codec.log_files import INSTANT, SCHEMA, avro_block, real_logs

MIB = 1 << 20
_LARGEST_SEED = 20_000
_NUMBERS = [0, 1, -1, 5, 6, 7, 8, 14, 255, 2**15, 2**16, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 64 << 20]

Mutation = Callable[[random.Random, bytes], bytes]


@dataclass
class Outcome:
    """What some inputs did: how many of each kind, and each that broke a rule."""

    kinds: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    broken: list[tuple[str, bytes]] = field(default_factory=list)


def seeds() -> list[bytes]:
    """Real log files of all kinds, and made ones that have what no real one of those has."""
    real = {data for data in real_logs().values() if len(data) <= _LARGEST_SEED}
    shapes = {
        tuple((block.type, len(block.header.replaces), block.header.is_partial) for block in _scan(data)): data for data in sorted(real)
    }
    made = [avro_block() * 3, rollback_block("2", "1") + avro_block() + rollback_block("3", INSTANT), *_delete_blocks(), _large_positions()]
    return [*shapes.values(), *made]


def _delete_blocks() -> Iterator[bytes]:
    header = BlockHeader(instant=INSTANT, schema_json=SCHEMA, positions=encode_positions([0, 3]), positions_of="1")
    for kind, value in ((OrderingType.LONG, 7), (OrderingType.STRING, "größe"), (OrderingType.DOUBLE, 1.5)):
        deleted = DeletedKeys(("key-1", "key-2"), ("p=1", ""), ((value, value), COMMIT_TIME_DELETE))
        yield encode_block(BlockType.DELETE, header, encode_deletes(deleted, [kind, kind]))
    for line in (FIXTURES / "log_format" / "kryo_deletes.tsv").read_text().splitlines():
        _, what, raw = line.split("\t")
        data = bytes.fromhex(raw)
        yield encode_block(BlockType.DELETE, header, struct.pack(">ii", int(what[1]), len(data)) + data)


def _large_positions() -> bytes:
    positions = [*range(3000), *range(65_536, 65_536 + 8194, 2), 1 << 33]
    header = BlockHeader(instant=INSTANT, schema_json=SCHEMA, positions=encode_positions(positions), positions_of="1")
    return encode_block(BlockType.AVRO, header, encode_avro_content([b"a", b"bc"]))


def fuzz(inputs: int, seed: int, stop_s: float = float("inf")) -> Outcome:
    """Read that many mutated files, fewer when the time is over."""
    chance = random.Random(seed)
    files = seeds()
    originals = {data: list(_scan(data)) for data in files}
    outcome = Outcome()
    end = time.monotonic() + stop_s
    for number in range(inputs):
        if number % 256 == 0 and time.monotonic() > end:
            break
        original = chance.choice(files)
        if chance.random() < 0.3:
            name, data = "in place", _change_some_bytes(chance, original)
            problem = _hit_evaluator(data, outcome, number) or _untouched(original, originals[original], data)
        else:
            mutate = chance.choice(MUTATIONS)
            name, data = mutate.__name__.strip("_"), mutate(chance, original)
            problem = _hit_evaluator(data, outcome, number)
        outcome.kinds["inputs"] += 1
        if problem is not None:
            outcome.broken.append((f"{name}: {problem}", data))
    return outcome


def _hit_evaluator(data: bytes, outcome: Outcome, number: int) -> str | None:
    """Read a file to its last record and return which rule that broke."""
    begin = time.perf_counter()
    kind, problem = _attempt(data)
    seconds = time.perf_counter() - begin
    if kind is not None:
        outcome.kinds[kind] += 1
    if problem is None and seconds > _allowed_s(data):
        # The machine may have been busy with something else: take the process's own time.
        begin = time.process_time()
        _attempt(data)
        seconds = time.process_time() - begin
        problem = f"{seconds:.2f} s for {len(data)} bytes" if seconds > _allowed_s(data) else None
    outcome.slowest_s = max(outcome.slowest_s, seconds)
    return problem or (_memory_problem(data) if number % 512 == 0 else None)


def _allowed_s(data: bytes) -> float:
    return 0.1 + len(data) / MIB


def _memory_problem(data: bytes) -> str | None:
    tracemalloc.start()
    _attempt(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"{peak} bytes of memory for {len(data)}" if peak > 64 * MIB + 4 * len(data) else None


def _attempt(data: bytes) -> tuple[str | None, str | None]:
    """Return how a file was read, or which rule that broke."""
    try:
        return _read_all(data), None
    except (CorruptTableError, UnsupportedError) as error:
        return type(error).__name__, None
    except Exception as error:  # noqa: BLE001 - any other error is what is looked for
        return None, f"{type(error).__name__}: {error}"


def _read_all(data: bytes) -> str:
    """Read everything, check that blocks follow each other, and say what the file is."""
    source, at, kind = io.BytesIO(data), 0, "whole"
    for block in _scan(data):
        if block.offset != at or block.size < len(MAGIC):
            raise AssertionError(f"a block at {block.offset} follows one that ends at {at}")
        at += block.size
        if block.type is BlockType.CORRUPT:
            kind = "damaged"
            continue
        content = read_content(source, block)
        count = 0
        if block.type in (BlockType.AVRO, BlockType.CDC):
            count = len([bytes(record) for record in avro_records(content)])
        elif block.type is BlockType.DELETE:
            count = len(decode_deletes(content).keys)
        if block.header.positions is not None:
            decode_positions(block.header.positions, max(count, 200_000))
    if len(data) - at >= len(MAGIC):
        raise AssertionError(f"the last block ends at {at} of {len(data)}")
    return kind


def _untouched(original: bytes, blocks: Sequence[LogBlock], data: bytes) -> str | None:
    """Return which block is not found any more although none of its bytes changed."""
    try:
        result = {block.offset: block for block in _scan(data)}
    except (CorruptTableError, UnsupportedError):
        return None
    for block in blocks:
        # The magic behind a block is part of what makes it whole.
        extent = slice(block.offset, block.offset + block.size + len(MAGIC))
        if data[extent] == original[extent] and result.get(block.offset) != block:
            return f"the block at {block.offset} is lost"
    return None


def _scan(data: bytes) -> Iterator[LogBlock]:
    return scan_blocks(io.BytesIO(data), "log", len(data))


def _place(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _change_some_bytes(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        index = chance.randrange(len(changed))
        changed[index] ^= chance.choice((1 << chance.randrange(8), chance.randrange(1, 256)))
    return bytes(changed)


def _forge_number(chance: random.Random, data: bytes) -> bytes:
    """Write a number over a field, or over anything."""
    form = chance.choice((">i", ">q", "<i", "<q"))
    value = chance.choice([*_NUMBERS, len(data), len(data) + 1, chance.randrange(-(2**31), 2**31)])
    packed = struct.pack(form, max(min(value, 2**31 - 1), -(2**31)) if form[1] == "i" else value)
    index = _field(chance, data)
    return data[:index] + packed + data[index + len(packed) :]


def _field(chance: random.Random, data: bytes) -> int:
    """Return the place of a length or count of the first blocks, mostly."""
    blocks = [block for block in _scan(data) if block.type is not BlockType.CORRUPT]
    if not blocks or chance.random() < 0.2:
        return _place(chance, data)
    block = chance.choice(blocks)
    fields = (6, 14, 18, 22, 26, 30, block.size - 12, block.size - 8)
    return chance.choice([block.offset + at for at in fields] + [block.content_offset + at for at in (-8, 0, 4, 8)])


def _forge_both_lengths(chance: random.Random, data: bytes) -> bytes:
    """Give a piece of the file a frame whose two lengths agree."""
    begin = chance.choice([block.offset for block in _scan(data)] + [_place(chance, data)])
    end = chance.choice([block.offset + block.size for block in _scan(data)] + [_place(chance, data), len(data)])
    size = max(end - begin - 14, 8)
    body = data[begin + 14 : begin + 14 + size - 8].ljust(size - 8, b"\0")
    return data[:begin] + MAGIC + struct.pack(">q", size) + body + struct.pack(">q", size + 6) + data[begin + 14 + size :]


def _change_content(chance: random.Random, data: bytes) -> bytes:
    """Change a content, within a frame that fits it."""
    block = chance.choice([block for block in _scan(data) if block.type is not BlockType.CORRUPT])
    content = read_content(io.BytesIO(data), block)
    content = chance.choice((_change_some_bytes, _cut_off, _forge_anywhere, _insert))(chance, content or b"\0")
    return data[: block.offset] + encode_block(block.type, block.header, content) + data[block.offset + block.size :]


def _change_positions(chance: random.Random, data: bytes) -> bytes:
    raw = _change_some_bytes(chance, b"\0" * 20 + struct.pack("<qII", 1, 0, 12346)[: chance.randrange(17)])
    text = encode_positions(sorted({chance.randrange(1 << chance.choice((4, 20, 40))) for _ in range(chance.randrange(40))}))
    text = chance.choice(
        (text, text[: chance.randrange(len(text))], raw.hex(), _change_some_bytes(chance, text.encode()).decode("latin-1"))
    )
    return (
        encode_block(BlockType.AVRO, BlockHeader(instant=INSTANT, schema_json=SCHEMA, positions=text), b"\0\0\0\3\0\0\0\1\0\0\0\1\2") + data
    )


def _cut_off(chance: random.Random, data: bytes) -> bytes:
    return data[: _place(chance, data)]


def _forge_anywhere(chance: random.Random, data: bytes) -> bytes:
    index = _place(chance, data)
    packed = struct.pack(">i", chance.choice([value for value in _NUMBERS if abs(value) < 2**31]))
    return data[:index] + packed + data[index + 4 :]


def _insert(chance: random.Random, data: bytes) -> bytes:
    index = _place(chance, data)
    file_slice = chance.choice((MAGIC, MAGIC * 3, bytes(chance.randrange(1, 40)), chance.randbytes(chance.randrange(1, 40)), b"\xff" * 12))
    return data[:index] + file_slice + data[index:]


def _cut_out(chance: random.Random, data: bytes) -> bytes:
    begin, end = sorted((_place(chance, data), _place(chance, data)))
    return data[:begin] + data[end:]


def _shuffle(chance: random.Random, data: bytes) -> bytes:
    """Repeat and reorder the blocks, some of them cut."""
    file_slices = [data[block.offset : block.offset + block.size] for block in _scan(data)] or [data]
    chosen = [chance.choice(file_slices) for _ in range(chance.randrange(1, 5))]
    return b"".join(file_slice if chance.random() < 0.7 else _cut_off(chance, file_slice) for file_slice in chosen)


def _change_twice(chance: random.Random, data: bytes) -> bytes:
    first = chance.choice((_cut_out, _insert, _shuffle, _cut_off))(chance, data)
    return _change_some_bytes(chance, first or b"\0")


MUTATIONS: Sequence[Mutation] = (
    _forge_number,
    _forge_number,
    _forge_both_lengths,
    _change_content,
    _change_content,
    _change_positions,
    _cut_off,
    _insert,
    _cut_out,
    _shuffle,
    _change_twice,
)
