"""Commits that are decoded only if their bytes have a text: none is left out that has it."""

from __future__ import annotations

import pytest

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.commit_search import search_for
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.table.tables import make_table

DONE = Instant("20260101000000000", Action.COMMIT, State.COMPLETED, "20260101000000001")
SYNC = bytes(range(16))
METADATA = CommitMetadata({"Zürich": (WriteStat("file-1", "Zürich/file-1.parquet", partition_path="Zürich"),)})


def loaded(content: bytes, *names: str, version: str = "9") -> CommitMetadata | None:
    storage = MemoryStorage()
    make_table(storage, options={"hoodie.write.table.version": version})
    config = TableConfig(load_properties(storage))
    storage.create(f"{config.timeline_path}/{DONE.file_name(config.layout)}", content)
    return search_for(names).load(storage, config, load_timeline(storage, config), DONE)


@pytest.mark.parametrize(("names", "is_loaded"), [(("file-1",), True), (("other", "Zürich"), True), (("file-2",), False), ((), False)])
def test_a_commit_is_decoded_if_it_has_one_of_the_texts(names: tuple[str, ...], is_loaded: bool) -> None:
    assert (loaded(commit_content(METADATA, 2, sync=SYNC), *names) is not None) == is_loaded


def test_a_commit_of_version_6_and_a_compressed_one_are_decoded_in_any_case() -> None:
    assert loaded(commit_content(METADATA, 1, sync=SYNC), "file-2", version="6") is not None
    plain = commit_content(METADATA, 2, sync=SYNC)
    compressed = plain.replace(b"\x02\x16avro.schema", b"\x04\x14avro.codec\x0edeflate\x16avro.schema", 1)
    assert compressed != plain
    with pytest.raises(UnsupportedError, match="compressed with deflate"):
        loaded(compressed, "file-2")


@pytest.mark.parametrize("length", [0, 20, -20])
def test_a_damaged_commit_is_not_taken_for_one_without_the_text(length: int) -> None:
    with pytest.raises(CorruptTableError):
        loaded(commit_content(METADATA, 2, sync=SYNC)[:length], "file-2")


@pytest.mark.parametrize("written", ["0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d-0", "00000003-", "a-b", "plain"])
@pytest.mark.parametrize("count", [0, 1, 12, 13, 400])
def test_an_id_is_found_among_however_many(written: str, count: int) -> None:
    """From some number of ids on, a part of each is compared first."""
    others = [f"{number:08x}-4e5f-4a6b-8c7d-{number:012x}-0" for number in range(100, 100 + count)]
    content = f"x{written}4e5f-0_1-2-3.parquet 4e5f-4a6b".encode()
    assert search_for((), [*others, written]).is_found(content)
    assert not search_for((), others).is_found(content)


def test_an_id_counts_only_beside_one_of_the_partitions() -> None:
    content = b"oslo x00000003-5c2b-4f6e-9d0a-6c1d0f3a7b21-0"
    assert search_for((), ["00000003-"], ["oslo", "rome"]).is_found(content)
    assert not search_for((), ["00000003-"], ["rome"]).is_found(content)
    assert search_for(["oslo"], ["00000004-"], ["rome"]).is_found(content)
    assert search_for((), ["00000003-"], [f"p{number}" for number in range(13)]).is_found(content), "too many partitions are not compared"
