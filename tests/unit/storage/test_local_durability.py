"""What the local storage syncs, and in which order: the content before its name, the name before it returns."""

from __future__ import annotations

import os
import stat

import pytest

from pyhudi.storage.local_storage import LocalStorage


@pytest.fixture
def trace(monkeypatch):
    """The system calls that matter for durability, in order: `sync file`, `sync folder`, `link`, `replace`, `mkdir`."""
    calls: list[str] = []
    fsync = os.fsync

    def traced_fsync(descriptor: int) -> None:
        calls.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
        fsync(descriptor)

    def traced(name: str) -> None:
        original = getattr(os, name)

        def call(*args, **kwargs):
            calls.append(name)
            return original(*args, **kwargs)

        monkeypatch.setattr(os, name, call)

    monkeypatch.setattr(os, "fsync", traced_fsync)
    for name in ("link", "replace", "mkdir"):
        traced(name)
    return calls


@pytest.fixture
def storage(tmp_path):
    (tmp_path / "f").mkdir()
    return LocalStorage(str(tmp_path))


def test_created_content_is_durable_before_its_name_and_the_name_at_the_end(storage, trace) -> None:
    storage.create("f/a", b"1")
    assert trace == ["sync file", "link", "sync folder"]


def test_empty_file_costs_one_sync(storage, trace) -> None:
    storage.create("f/a", b"")
    assert trace == ["sync folder"]


def test_replacing_content_is_durable_before_it_takes_the_name(storage, trace) -> None:
    storage.replace("f/a", b"1")
    assert trace == ["sync file", "replace", "sync folder"]


def test_data_file_is_durable_when_its_block_ends(storage, trace) -> None:
    with storage.open_output("f/a") as sink:
        sink.write(b"1")
        assert trace == []
    assert trace == ["sync file", "sync folder"]


def test_new_folders_are_durable_before_what_is_in_them(storage, trace) -> None:
    storage.create("f/new/a", b"")
    assert trace == ["mkdir", "sync folder", "sync folder"]


def test_reads_and_deletes_sync_nothing(storage, trace) -> None:
    storage.create("f/a", b"1")
    trace.clear()
    storage.read("f/a")
    storage.list("f")
    storage.stat("f/a")
    storage.delete("f/a")
    storage.delete_tree("f")
    assert trace == []
