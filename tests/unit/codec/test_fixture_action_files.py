"""Every file on every fixture table's timeline decodes, and what pyhudi encodes again is byte for byte what Hudi wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pyhudi.codec.actions.action_files import decode
from pyhudi.codec.actions.commit_metadata import (
    decode_commit,
    decode_extra_metadata,
    decode_written_paths,
    encode_commit,
    encode_commit_json,
)
from pyhudi.codec.actions.plan_codec import encode_requested_replace
from pyhudi.codec.actions.rollback_codec import encode_rollback_metadata, encode_rollback_plan
from pyhudi.codec.avro.avro_container import MAGIC, decode_container, encode_container
from pyhudi.codec.avro.avro_record import decode_payload, encode_payload
from pyhudi.spec.actions.clustering import RequestedReplace
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.actions.rollback import RollbackMetadata, RollbackPlan
from pyhudi.spec.instant import Action, Instant, State, parse_instant
from tests.tables import FIXTURES, NAMES

#: The text of the schema is that of an older release in two files of version 6.
OLDER_SCHEMA = {"20240707001303088.replacecommit.requested", "20250121000702475.replacecommit.requested"}


def action_files(table: Path) -> Iterator[tuple[Instant, Path]]:
    """Files of the timelines of a table and of its metadata table."""
    for path in sorted(table.rglob("*")):
        if ".hoodie" in path.parts and path.is_file():
            instant = parse_instant(path.name, 2 if path.parent.name == "timeline" else 1)
            if instant is not None:
                yield instant, path


def encoded(payload: Any, sync: bytes) -> bytes | None:
    """The payload as pyhudi writes it; None for those that it only reads."""
    match payload:
        case CommitMetadata():
            return encode_commit(payload, sync=sync)
        case RollbackPlan():
            return encode_rollback_plan(payload, sync=sync)
        case RollbackMetadata():
            return encode_rollback_metadata(payload, sync=sync)
        case RequestedReplace(plan=None, operation=operation):
            return encode_requested_replace(Operation(operation or "INSERT_OVERWRITE"), sync=sync)
        case _:
            return None


@pytest.mark.parametrize("name", NAMES)
def test_every_action_file_decodes_and_encodes_to_the_same_bytes(name: str, fixture_table: Callable[[str], Path]) -> None:
    count = 0
    for instant, path in action_files(fixture_table(name)):
        data = path.read_bytes()
        payload = decode(instant.action, instant.state, data)
        count += 1
        if data.startswith(MAGIC):
            container = decode_container(data)
            assert encode_container(container) == data
            record = decode_payload(container.payload, container.schema)
            assert encode_payload(record, container.schema) == container.payload
            again = encoded(payload, container.sync)
            assert again is None or again == data or path.name in OLDER_SCHEMA, path.name
        elif data and instant.state is State.REQUESTED:
            assert payload is None  # a downgrade repeats the inflight content there; a reader needs none of it
        elif data:
            assert isinstance(payload, CommitMetadata)
            if name.startswith("apache_hudi"):  # Hudi 1.2 orders and adds fields in its own way when it writes version 6
                repeated = decode_commit(encode_commit_json(payload))
                assert [stat.path for stat in repeated.all_stats()] == [stat.path for stat in payload.all_stats()]
                assert (repeated.extra_metadata, repeated.operation, repeated.replaced) == (
                    payload.extra_metadata,
                    payload.operation,
                    payload.replaced,
                )
            else:
                assert encode_commit_json(payload) == data, path.name
    assert count or "empty" in name


def test_a_clean_of_apache_hudi_says_what_it_deleted(fixture_table: Callable[[str], Path]) -> None:
    matches: dict[Any, Any] = {
        (instant.action, instant.state): decode(instant.action, instant.state, path.read_bytes())
        for instant, path in action_files(fixture_table("apache_hudi/cleaned_and_archived_v9"))
        if instant.action is Action.CLEAN
    }
    plan, done = matches[Action.CLEAN, State.REQUESTED], matches[Action.CLEAN, State.COMPLETED]
    planned = {file.rsplit("/", 1)[-1] for files in plan.files.values() for file in files}
    deleted = {file.rsplit("/", 1)[-1] for partition in done.partitions.values() for file in partition.deleted}
    assert planned == deleted
    assert done.files_deleted == len(deleted) > 0
    assert plan.policy == "KEEP_LATEST_COMMITS"


def test_a_restore_names_the_savepoint_and_what_it_rolled_back(fixture_table: Callable[[str], Path]) -> None:
    matches: dict[Any, Any] = {
        (instant.action, instant.state): (instant, decode(instant.action, instant.state, path.read_bytes()))
        for instant, path in action_files(fixture_table("apache_hudi/restored_v9"))
        if instant.action in {Action.RESTORE, Action.SAVEPOINT}
    }
    savepoint, _ = matches[Action.SAVEPOINT, State.COMPLETED]
    _, plan = matches[Action.RESTORE, State.REQUESTED]
    _, done = matches[Action.RESTORE, State.COMPLETED]
    assert plan.savepoint == savepoint.requested
    assert {instant.time for instant in plan.instants} == {instant.time for instant in done.instants} != set()
    assert all(instant.time > savepoint.requested for instant in plan.instants)


def test_a_deltacommit_of_version_8_names_its_log_files() -> None:
    payload = decode(
        Action.DELTA_COMMIT,
        State.COMPLETED,
        (FIXTURES / "hudi" / "commit_metadata" / "v8_deltacommit.avro").read_bytes(),
    )
    assert isinstance(payload, CommitMetadata)
    assert payload.operation is not None
    assert payload.schema_json is not None


@pytest.mark.parametrize("name", NAMES)
def test_written_paths_are_those_of_the_whole_commit(name: str, fixture_table: Callable[[str], Path]) -> None:
    count = 0
    for instant, path in action_files(fixture_table(name)):
        data = path.read_bytes()
        if instant.action in (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT) and instant.is_completed:
            whole, paths = decode_commit(data), decode_written_paths(data)
            assert _paths_of(paths) == _paths_of(whole)
            assert paths.replaced == whole.replaced
            assert decode_extra_metadata(data) == whole.extra_metadata
            count += 1
    assert count or name.endswith("_empty")


def _paths_of(metadata: CommitMetadata) -> list[tuple[str, str | None, str | None, str | None]]:
    return [(partition, stat.path, stat.file_id, stat.prev_commit) for partition, stats in metadata.stats.items() for stat in stats]
