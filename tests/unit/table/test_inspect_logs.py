"""`inspect.log_blocks` and `inspect.log_anatomy`: what log files hold, also damaged ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.codec.log.log_writer import encode_block, rollback_block
from pyhudi.errors import CorruptTableError, UsageError
from pyhudi.spec.files.log_block import BlockHeader, BlockType

ROLLED_BACK = "mor/parquet/v6_nonpartitioned_rollback"
FIXTURE = "apache_hudi/merge_on_read_v9"


def log_files(base: Path) -> list[str]:
    return sorted(str(path.relative_to(base)) for path in base.glob("[!.]*/.*.log.*") if path.suffix != ".crc")


@pytest.fixture
def changed(fixture_table: Callable[[str], Path], tmp_path: Path) -> Path:
    """A table of one's own to be damaged."""
    return Path(shutil.copytree(fixture_table(FIXTURE), tmp_path / "table"))


def append(base: Path, log: str, data: bytes) -> None:
    (base / log).write_bytes((base / log).read_bytes() + data)


def test_blocks_cover_their_files(fixture_table: Callable[[str], Path]) -> None:
    base = fixture_table(FIXTURE)
    inspect = HudiTable.open(base).inspect
    assert log_files(base)
    for log in log_files(base):
        blocks = inspect.log_blocks(log).to_pylist()
        assert {block["file"] for block in blocks} == {log}
        assert sum(block["size"] for block in blocks) == (base / log).stat().st_size
        assert all(block["records"] == 1 and block["flags"] == ["positions"] and block["problem"] is None for block in blocks)


def test_a_folder_shows_the_blocks_of_its_log_files(fixture_table: Callable[[str], Path]) -> None:
    base = fixture_table(FIXTURE)
    inspect = HudiTable.open(base).inspect
    folder = log_files(base)[0].split("/")[0]
    assert set(inspect.log_blocks(folder)["file"].to_pylist()) == {log for log in log_files(base) if log.startswith(folder + "/")}


@pytest.mark.parametrize("name", [ROLLED_BACK, "mor/parquet/v6_complexkeygen_hivestyle", "apache_hudi/with_metadata_table_v9"])
def test_records_are_counted_in_every_kind_of_block(name: str, fixture_table: Callable[[str], Path]) -> None:
    base = fixture_table(name)
    inspect = HudiTable.open(base).inspect
    result = set()
    for log in base.rglob(".*.log.*"):
        if log.suffix != ".crc" and "__MACOSX" not in str(log):
            for block in inspect.log_blocks(str(log.relative_to(base))).to_pylist():
                result.add(block["type"])
                counts = {"DELETE": "deletes", "COMMAND": None}.get(block["type"], "records")
                assert block["problem"] is None
                assert {kind for kind in ("records", "deletes") if block[kind] is not None} == ({counts} if counts else set())
    assert result & {"PARQUET", "HFILE"}


def test_rollback_shows_what_it_rolls_back(fixture_table: Callable[[str], Path]) -> None:
    base = fixture_table(ROLLED_BACK)
    logs = [path.name for path in base.glob(".*.log.2_*") if path.suffix != ".crc"]
    [block] = HudiTable.open(base).inspect.log_blocks(logs[0]).to_pylist()
    assert (block["type"], block["instant"], block["target_instant"]) == ("COMMAND", "20250126040936578", "20250126040826878")


def test_damage_is_shown_beside_what_is_whole(changed: Path) -> None:
    log = log_files(changed)[0]
    whole = (changed / log).stat().st_size
    append(changed, log, rollback_block("2", "1")[:50])
    first, second = HudiTable.open(changed).inspect.log_blocks(log).to_pylist()
    assert (first["type"], first["problem"]) == ("AVRO", None)
    assert (second["type"], second["offset"], second["size"]) == ("CORRUPT", whole, 50)
    assert "damaged" in second["problem"]
    assert f"damaged bytes from {whole} to {whole + 50}" in HudiTable.open(changed).inspect.log_anatomy(log)


@pytest.mark.parametrize("kind", [BlockType.AVRO, BlockType.DELETE, BlockType.HFILE, BlockType.PARQUET, BlockType.CDC])
def test_content_that_cannot_be_read_is_a_problem_of_its_block(kind: BlockType, changed: Path) -> None:
    log = log_files(changed)[0]
    append(changed, log, encode_block(kind, BlockHeader(instant="2", schema_json="{}"), b"nonsense"))
    _, block = HudiTable.open(changed).inspect.log_blocks(log).to_pylist()
    assert (block["type"], block["records"], block["deletes"]) == (kind.name, None, None)
    assert block["problem"]


def test_file_that_cannot_be_read_on_ends_with_a_row_that_says_why(changed: Path) -> None:
    log = log_files(changed)[0]
    whole = (changed / log).stat().st_size
    append(changed, log, encode_block(BlockType.AVRO, BlockHeader(), b""))
    _, rest = HudiTable.open(changed).inspect.log_blocks(log).to_pylist()
    assert (rest["type"], rest["offset"]) == ("UNREADABLE", whole)
    assert f"the block at {whole} has no instant" in rest["problem"]
    with pytest.raises(CorruptTableError, match="no instant"):
        HudiTable.open(changed).inspect.log_anatomy(log)


def test_damaged_log_file_is_a_problem_of_the_tables_health(changed: Path) -> None:
    log = log_files(changed)[0]
    whole = (changed / log).stat().st_size
    assert HudiTable.open(changed).inspect.health().num_rows == 0
    append(changed, log, rollback_block("2", "1")[:50])
    [problem] = [row for row in HudiTable.open(changed).inspect.health().to_pylist() if row["check"] == "file is whole"]
    assert problem["subject"] == log
    assert problem["problem"].startswith(f"block at byte {whole}: damaged")


def test_anatomy_gives_each_field_with_its_place(fixture_table: Callable[[str], Path]) -> None:
    base = fixture_table(ROLLED_BACK)
    [log] = [path.name for path in base.glob(".*.log.2_*") if path.suffix != ".crc"]
    assert HudiTable.open(base).inspect.log_anatomy(log).splitlines() == [
        f"{log}: 105 bytes, 1 block",
        "",
        "block of 105 bytes",
        "         0  magic               #HUDI#",
        "         6  size                91 bytes behind this field",
        "        14  format version      1",
        "        18  block type          0 COMMAND",
        "        22  header              63 bytes",
        "              instant           20250126040936578",
        "              target instant    20250126040826878",
        "              command           0 (rollback)",
        "        85  content size        0 bytes",
        "        93  content             nothing",
        "        93  footer              4 bytes",
        "        97  total length        97 bytes back to the magic",
    ]


def test_anatomy_names_columns_and_positions(fixture_table: Callable[[str], Path]) -> None:
    base = fixture_table(FIXTURE)
    text = HudiTable.open(base).inspect.log_anatomy(log_files(base)[0])
    assert " fields, of the table: " in text
    assert "1 row of the base file of " in text
    assert " content             1 record\n" in text


def test_file_that_is_not_there_is_refused(fixture_table: Callable[[str], Path]) -> None:
    inspect = HudiTable.open(fixture_table(FIXTURE)).inspect
    with pytest.raises(UsageError, match="no file or folder 'x'"):
        inspect.log_blocks("x")
    with pytest.raises(UsageError, match="no file 'x'"):
        inspect.log_anatomy("x")
