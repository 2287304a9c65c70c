"""The files of `.hoodie/.schema`: the newest of a completed commit counts, and those of failed commits are deleted by the next."""

from __future__ import annotations

import pytest

from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.schema_files import FOLDER, read_schema_file, store_schema_file

FIRST, SECOND, THIRD, DONE = "20261201040547825", "20261201040550000", "20261201040560000", "20261201040570000"


def complete(storage, config, time: str) -> None:
    name = f"{time}.commit" if config.layout == 1 else f"{time}_{DONE}.commit"
    storage.create(f"{config.timeline_path}/{name}", b"")


@pytest.mark.parametrize("version", [1, 2])
def test_the_newest_file_of_a_completed_commit_counts(storage, layout_1, layout_2, version) -> None:
    config = layout_1 if version == 1 else layout_2
    assert read_schema_file(storage, load_timeline(storage, config)) is None
    for time in (FIRST, SECOND):
        store_schema_file(storage, config, load_timeline(storage, config), time, DONE, f"schema of {time}")
        complete(storage, config, time)
    store_schema_file(storage, config, load_timeline(storage, config), THIRD, DONE, "of a commit that failed")
    assert read_schema_file(storage, load_timeline(storage, config)) == f"schema of {SECOND}"
    suffix = "" if version == 1 else f"_{DONE}"
    names = sorted(storage.file_names(FOLDER))
    assert [name for name in names if name.startswith(FIRST)] == sorted(
        [f"{FIRST}{suffix}.schemacommit", f"{FIRST}.schemacommit.inflight", f"{FIRST}.schemacommit.requested"]
    )


def test_what_a_failed_commit_left_is_deleted_by_the_next(storage, layout_2) -> None:
    complete(storage, layout_2, FIRST)
    store_schema_file(storage, layout_2, load_timeline(storage, layout_2), SECOND, DONE, "failed")
    store_schema_file(storage, layout_2, load_timeline(storage, layout_2), THIRD, DONE, "next")
    names = list(storage.file_names(FOLDER))
    assert len(names) == 3
    assert all(name.startswith(THIRD) for name in names)
