"""Damaged and forged action files give CorruptTableError, at once and without much memory."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.actions.action_files import decode
from pyhudi.codec.actions.commit_metadata import decode_commit, encode_commit, encode_commit_json
from pyhudi.codec.avro.avro_container import Container, decode_container, encode_container
from pyhudi.codec.avro.avro_record import encode_payload, parse_avro_schema
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.instant import Action, State

SYNC = bytes(range(16))
COMMIT = CommitMetadata(
    stats={"p": (WriteStat(file_id="f-0", path="p/f-0_0-0-0_1.parquet", partition_path="p", num_writes=3),)},
    extra_metadata={"schema": "{}"},
    operation="UPSERT",
)
AVRO = encode_commit(COMMIT, sync=SYNC)
JSON = encode_commit_json(COMMIT)


@pytest.mark.parametrize("data", [AVRO, JSON], ids=["avro", "json"])
def test_every_cut_of_a_commit_is_refused(data: bytes) -> None:
    for end in range(1, len(data)):
        with pytest.raises(CorruptTableError):
            decode_commit(data[:end])


@given(st.integers(0, len(AVRO) - 1), st.integers(0, 255))
def test_one_changed_byte_gives_a_value_or_a_typed_error(at: int, byte: int) -> None:
    data = bytearray(AVRO)
    data[at] = byte
    with contextlib.suppress(CorruptTableError, UnsupportedError):
        assert isinstance(decode_commit(bytes(data)), CommitMetadata)


@given(st.binary(max_size=200))
def test_any_payload_gives_a_value_or_a_typed_error(payload: bytes) -> None:
    data = encode_container(Container(decode_container(AVRO).schema, payload, SYNC))
    with contextlib.suppress(CorruptTableError):
        assert isinstance(decode_commit(data), CommitMetadata)


@pytest.mark.parametrize("length", [-1, 1 << 31, (1 << 62) - 1, -(1 << 62)])
def test_a_forged_length_is_refused_at_once(length: int) -> None:
    zigzag, out = (length << 1) ^ (length >> 63), bytearray()
    while zigzag >= 0x80:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    # A map of stats with one entry whose key has the forged length; then the same as a count of entries.
    for payload in (b"\x02\x02" + bytes(out), b"\x02" + bytes(out) + b"\x02p"):
        begun = time.monotonic()
        with pytest.raises(CorruptTableError):
            decode_commit(encode_container(Container(decode_container(AVRO).schema, payload, SYNC)))
        assert time.monotonic() - begun < 1


def forged(fields: list[dict[str, Any]], payload: bytes = b"") -> bytes:
    schema = {"type": "record", "name": "HoodieCommitMetadata", "namespace": "org.apache.hudi.avro.model"}
    return encode_container(Container(json.dumps({**schema, "fields": fields}), payload, SYNC))


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param([{"name": "a", "type": {"type": "array", "items": "null"}}], id="elements without bytes"),
        pytest.param([{"name": "a", "type": ["null", "HoodieCommitMetadata"]}], id="type within itself"),
        pytest.param([{"name": "partitionToWriteStats", "type": "string"}], id="other type"),
        pytest.param([{"name": "a", "type": "nonsense"}], id="unknown type"),
        pytest.param([{"nome": "a"}], id="field without name"),
    ],
)
def test_a_forged_schema_is_refused(fields: list[dict[str, Any]]) -> None:
    with pytest.raises(CorruptTableError):
        decode_commit(forged(fields, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"))


def test_a_schema_that_calls_itself_parsed_is_parsed() -> None:
    forged = {"__fastavro_parsed": True, "__named_schemas": {"Hidden": {"type": "record", "name": "Hidden", "fields": []}}}
    with pytest.raises(CorruptTableError, match="Hidden"):
        parse_avro_schema(json.dumps({"type": "record", "name": "r", "fields": [{"name": "a", "type": "Hidden"}], **forged}))


def test_a_schema_nested_without_end_is_refused() -> None:
    inner: Any = "string"
    for _ in range(500):
        inner = {"type": "array", "items": inner}
    with pytest.raises(CorruptTableError, match="deep"):
        decode_commit(forged([{"name": "a", "type": inner}]))


def test_a_record_of_another_kind_is_refused_by_its_name() -> None:
    with pytest.raises(CorruptTableError, match="HoodieCommitMetadata, expected is HoodieRollbackPlan"):
        decode(Action.ROLLBACK, State.REQUESTED, AVRO)


def test_fields_of_a_later_release_are_skipped() -> None:
    schema = json.loads(decode_container(AVRO).schema)
    schema["fields"].append({"name": "later", "type": ["null", "string"], "default": None})
    schema["fields"][0]["type"][1]["values"]["items"]["fields"].insert(2, {"name": "new", "type": "long", "default": 0})
    text = json.dumps(schema)
    payload = encode_payload({"operationType": "UPSERT", "later": "x", "partitionToWriteStats": {"p": [{"new": 7}]}}, text)
    result = decode_commit(encode_container(Container(text, payload, SYNC)))
    assert result.operation == "UPSERT"
    assert len(result.stats["p"]) == 1


def test_a_compressed_container_is_named() -> None:
    data = AVRO.replace(b"\x02\x16avro.schema", b"\x04\x14avro.codec\x0edeflate\x16avro.schema", 1)
    with pytest.raises(UnsupportedError, match="deflate"):
        decode_commit(data)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"partitionToWriteStats": 3}',
        '{"partitionToWriteStats": {"p": {}}}',
        '{"partitionToWriteStats": {"p": [7]}}',
        '{"partitionToWriteStats": {"p": [{"numWrites": "3"}]}}',
        '{"partitionToWriteStats": {"p": [{"numWrites": 9223372036854775808}]}}',
        '{"partitionToWriteStats": {"p": [{"path": 1}]}}',
        '{"partitionToReplaceFileIds": {"p": "f"}}',
        '{"extraMetadata": {"schema": 1}}',
        "[" * 100000,
        '{"a": ' * 100000,
    ],
    ids=lambda text: text[:40],
)
def test_json_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(CorruptTableError):
        decode_commit(text.encode())


@pytest.mark.parametrize(
    "action",
    [
        Action.CLEAN,
        Action.ROLLBACK,
        Action.RESTORE,
        Action.SAVEPOINT,
        Action.INDEXING,
        Action.COMMIT,
        Action.DELTA_COMMIT,
        Action.REPLACE_COMMIT,
    ],
)
def test_an_empty_completed_file_is_refused(action: Action) -> None:
    with pytest.raises(CorruptTableError, match="cut off"):
        decode(action, State.COMPLETED, b"")


def test_an_empty_inflight_commit_is_empty_metadata() -> None:
    assert decode(Action.COMMIT, State.INFLIGHT, b"") == CommitMetadata()


def test_any_cut_of_a_fixture_clean_is_refused(fixture_table: Callable[[str], Path]) -> None:
    timeline = fixture_table("apache_hudi/cleaned_and_archived_v9") / ".hoodie" / "timeline"
    data = next(path for path in timeline.iterdir() if path.name.endswith(".clean")).read_bytes()
    for end in range(1, len(data)):
        with pytest.raises(CorruptTableError):
            decode(Action.CLEAN, State.COMPLETED, data[:end])
