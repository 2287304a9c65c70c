"""The archives of both layouts: manifests of Apache Hudi, and archive files of version 6 put together here."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.actions.archived_v1 import ARCHIVE_FILE, ArchivedEntry, decode_archive
from pyhudi.codec.actions.lsm_manifest import decode_manifest
from pyhudi.codec.avro.avro_record import encode_payload, schema_text
from pyhudi.errors import CorruptTableError

SCHEMA = (
    '{"type":"record","name":"HoodieArchivedMetaEntry","namespace":"org.apache.hudi.avro.model","fields":['
    f'{{"name":"hoodieCommitMetadata","type":["null",{schema_text("HoodieCommitMetadata")}],"default":null}},'
    '{"name":"commitTime","type":["null","string"],"default":null},{"name":"actionType","type":["null","string"]},'
    '{"name":"actionState","type":["null","string"],"default":null},'
    '{"name":"stateTransitionTime","type":["null","string"],"default":null}]}'
)


def headers(*entries: tuple[int, bytes]) -> bytes:
    return struct.pack(">i", len(entries)) + b"".join(struct.pack(">ii", key, len(text)) + text for key, text in entries)


def block(*records: dict[str, Any]) -> bytes:
    payloads = [encode_payload(record, SCHEMA) for record in records]
    content = struct.pack(">ii", 3, len(payloads)) + b"".join(struct.pack(">i", len(one)) + one for one in payloads)
    body = struct.pack(">ii", 1, 3) + headers((2, SCHEMA.encode())) + struct.pack(">q", len(content)) + content + headers()
    return b"#HUDI#" + struct.pack(">q", len(body) + 8) + body + struct.pack(">q", len(body) + 14)


COMMIT = {"partitionToWriteStats": {}, "compacted": False, "extraMetadata": {}, "version": 1, "operationType": "INSERT"}
ARCHIVE = block(
    {"commitTime": "20240101000000000", "actionType": "commit", "actionState": "REQUESTED"},
    {"commitTime": "20240101000000000", "actionType": "commit", "hoodieCommitMetadata": COMMIT},
) + block({"commitTime": "20240102000000000", "actionType": "clean", "actionState": "INFLIGHT", "stateTransitionTime": "x"})


def test_the_entries_of_all_blocks_come_in_order() -> None:
    result = list(decode_archive(ARCHIVE))
    assert [(entry.requested, entry.action, entry.state) for entry in result] == [
        ("20240101000000000", "commit", "REQUESTED"),
        ("20240101000000000", "commit", "COMPLETED"),
        ("20240102000000000", "clean", "INFLIGHT"),
    ]
    assert result[1].metadata is not None
    assert result[1].metadata.operation == "INSERT"
    assert result[2] == ArchivedEntry("20240102000000000", "clean", "INFLIGHT", None, "x")


def test_every_cut_of_an_archive_gives_whole_blocks_or_an_error() -> None:
    first = len(ARCHIVE) - len(
        block({"commitTime": "20240102000000000", "actionType": "clean", "actionState": "INFLIGHT", "stateTransitionTime": "x"})
    )
    for end in range(1, len(ARCHIVE)):
        if end == first:
            continue
        with pytest.raises(CorruptTableError):
            list(decode_archive(ARCHIVE[:end]))


@given(st.integers(0, len(ARCHIVE) - 8), st.sampled_from([0, 1, -1, 2**31, 2**62, -(2**62)]))
def test_a_forged_length_gives_entries_or_a_typed_error(at: int, length: int) -> None:
    forged = ARCHIVE[:at] + struct.pack(">q", length) + ARCHIVE[at + 8 :]
    with contextlib.suppress(CorruptTableError):
        assert len(list(decode_archive(forged))) <= 3


@pytest.mark.parametrize(("name", "number"), [(".commits_.archive.1_1-0-1", "1"), (".commits_.archive.12", "12")])
def test_names_of_archive_files_are_known(name: str, number: str) -> None:
    match = ARCHIVE_FILE.fullmatch(name)
    assert match is not None
    assert match[1] == number


def test_the_manifests_of_apache_hudi_name_files_that_are_there(fixture_table: Callable[[str], Path]) -> None:
    history = fixture_table("apache_hudi/cleaned_and_archived_v9") / ".hoodie" / "timeline" / "history"
    number = (history / "_version_").read_text()
    names = [entry.name for entry in decode_manifest((history / f"manifest_{number}").read_bytes())]
    assert names
    assert all((history / name).exists() for name in names)


@pytest.mark.parametrize("text", ["[]", "{}", '{"files": {}}', '{"files": [1]}', '{"files": [{"fileName": 1}]}', "{"])
def test_a_damaged_manifest_is_refused(text: str) -> None:
    with pytest.raises(CorruptTableError):
        decode_manifest(text.encode())


def test_the_archive_files_of_apache_hudi_hold_every_state_of_every_action(fixture_table: Callable[[str], Path]) -> None:
    folder = fixture_table("apache_hudi/cleaned_and_archived_v6") / ".hoodie" / "history"
    files = sorted(path for path in folder.iterdir() if ARCHIVE_FILE.fullmatch(path.name))
    entries = [entry for path in files for entry in decode_archive(path.read_bytes())]
    commits = {entry.requested for entry in entries if entry.action == "commit"}
    assert len(files) == 3
    for requested in commits:
        states = {entry.state for entry in entries if (entry.requested, entry.action) == (requested, "commit")}
        assert states == {"REQUESTED", "INFLIGHT", "COMPLETED"}
    completed = [entry for entry in entries if entry.action == "commit" and entry.state == "COMPLETED"]
    assert all(entry.metadata is not None and entry.metadata.schema_json for entry in completed)
    assert {entry.action for entry in entries} == {"commit", "clean"}
