"""hudi-rs lists by metadata tables that pyhudi writes: base files, log files and compacted ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hudi import HudiTableBuilder

from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.storage.local_storage import LocalStorage
from tests.tables import unpack
from tests.unit.metadata_table.replays import prepared, replay, timeline_of


def listed(base: Path, *, by_metadata_table: bool) -> list[str]:
    options = {"hoodie.metadata.enable": str(by_metadata_table).lower()}
    slices = HudiTableBuilder.from_base_uri(str(base)).with_options(options).build().get_file_slices()
    return sorted(file_slice.base_file_relative_path() for file_slice in slices)


@pytest.mark.parametrize("history", ["built from a listing", "recorded in log files", "compacted"])
@pytest.mark.parametrize("name", ["cow/v9_txns_simple_nometa", "cow/v9_txns_nonpart_nometa"])
def test_files_are_those_of_a_listing(tmp_path, name, history) -> None:
    base = unpack(name, tmp_path)
    storage = LocalStorage(str(base))
    if history == "built from a listing":
        prepared(storage, timeline_of(storage))
    else:
        replay(storage, max_delta_commits=1 if history == "compacted" else 1000)
    expected = listed(base, by_metadata_table=False)
    assert listed(base, by_metadata_table=True) == expected
    assert expected


def test_it_is_the_metadata_table_that_is_read(tmp_path) -> None:
    base = unpack("cow/v9_txns_simple_nometa", tmp_path)
    storage = LocalStorage(str(base))
    prepared(storage, timeline_of(storage))
    (file,) = (base / FOLDER / "files").glob("*.hfile")
    data = bytearray(file.read_bytes())
    data[60] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(Exception, match="HFile"):
        listed(base, by_metadata_table=True)
