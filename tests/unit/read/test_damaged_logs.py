"""Tables with damaged log files: rows, or an error in pyhudi's own words that names a file."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.errors import CorruptTableError, HudiError, UnsupportedError
from pyhudi.fsview import committed_sizes as stated
from pyhudi.spec.files.log_block import BlockHeader, BlockType
from tests.unit.codec.log_fuzz import MUTATIONS

TABLES = [
    "apache_hudi/merge_on_read_v9",
    "apache_hudi/merge_on_read_v6",
    "apache_hudi/merge_on_read_partial_merge_v9",
    "apache_hudi/merge_on_read_log_compacted_v8",
    "mor/parquet/v6_nonpartitioned_rollback",
    "mor/avro/v8_trips_8i3u1d",
]


@pytest.fixture
def own_copy(fixture_table: Callable[[str], Path], tmp_path: Path) -> Callable[[str], tuple[Path, list[Path]]]:
    """Copy a table to be damaged; its base path and the log files that count."""

    def copied(name: str) -> tuple[Path, list[Path]]:
        base = Path(shutil.copytree(fixture_table(name), tmp_path / "table"))
        # Only those of the latest slices: a read opens no other.
        logs = [base / row["path"] for row in HudiTable.open(base).inspect.files().to_pylist() if row["kind"] == "log"]
        assert logs
        return base, sorted(logs)

    return copied


@pytest.mark.parametrize("name", TABLES)
def test_mutated_log_files_give_rows_or_an_error_that_names_a_file(name: str, own_copy: Callable[[str], tuple[Path, list[Path]]]) -> None:
    base, logs = own_copy(name)
    chance = random.Random(name)
    names = {path.stem.lstrip(".").split("_")[0] for path in logs}
    recorded: list[str] = []
    read = 0
    limit = time.monotonic() + 1
    while time.monotonic() < limit or read + len(recorded) < 30:
        log = chance.choice(logs)
        original = log.read_bytes()
        log.write_bytes(chance.choice(MUTATIONS)(chance, original))
        try:
            HudiTable.open(base).to_arrow()
            read += 1
        except (CorruptTableError, UnsupportedError) as error:
            recorded.append(str(error))
        log.write_bytes(original)
    assert min(read, len(recorded)) > 0
    assert [text for text in recorded if not any(file_id in text for file_id in names)] == []


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (encode_block(BlockType.AVRO, BlockHeader(instant="1", schema_json="{}"), b""), "block at"),
        (encode_block(BlockType.DELETE, BlockHeader(), b""), "no instant"),
        (b"".join((b"#HUDI#", (32).to_bytes(8, "big"), b"\0\0\0\1\0\0\0\x09", bytes(16), (38).to_bytes(8, "big"))), "the type 9"),
        (b"".join((b"#HUDI#", (32).to_bytes(8, "big"), b"\0\0\0\2\0\0\0\3", bytes(16), (38).to_bytes(8, "big"))), "format version 2"),
    ],
)
def test_error_names_file_and_offset(
    block: bytes, message: str, own_copy: Callable[[str], tuple[Path, list[Path]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stated, "differences", lambda *_: ())  # as if the commit that states the length were archived
    base, logs = own_copy("apache_hudi/merge_on_read_v9")
    log = logs[0]
    offset = log.stat().st_size
    log.write_bytes(log.read_bytes() + block)
    with pytest.raises(HudiError, match=message) as caught:
        HudiTable.open(base).to_arrow()
    assert log.name in str(caught.value)
    assert str(offset) in str(caught.value)


def test_parquet_block_whose_footer_holds_no_text_is_damage(own_copy: Callable[[str], tuple[Path, list[Path]]]) -> None:
    base, logs = own_copy("mor/parquet/v6_nonpartitioned")
    log = next(path for path in logs if b"PAR1" in path.read_bytes())
    data = log.read_bytes()
    # The names of columns are in the footer, in its schema and before each column's chunks.
    footer = data.rindex(b"spark_schema")
    log.write_bytes(data[:footer] + data[footer:].replace(b"_hoodie_record_key", b"\xffhoodie_record_key"))
    with pytest.raises(CorruptTableError, match=r"Parquet file in it cannot be read"):
        HudiTable.open(base).to_arrow()


def test_base_file_that_is_not_there_is_named(own_copy: Callable[[str], tuple[Path, list[Path]]]) -> None:
    base, logs = own_copy("apache_hudi/merge_on_read_v9")
    (file,) = logs[0].parent.glob("*.parquet")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(CorruptTableError, match=file.name):
        HudiTable.open(base).to_arrow()


@pytest.mark.parametrize("knows_length", [True, False])
def test_no_cut_of_a_committed_log_file_loses_rows_in_silence(
    knows_length: bool, own_copy: Callable[[str], tuple[Path, list[Path]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not knows_length:  # as if the commit that states it were archived
        monkeypatch.setattr(stated, "differences", lambda *_: ())
    message = "wrote it with" if knows_length else r"block at byte \d+"
    base, logs = own_copy("apache_hudi/merge_on_read_v9")
    log = logs[0]
    whole = log.read_bytes()
    for end in (len(whole) - 1, len(whole) - 9, len(whole) // 2, 40, 15):
        log.write_bytes(whole[:end])
        with pytest.raises(CorruptTableError, match=rf"{log.name}.*{message}"):
            HudiTable.open(base).to_arrow()
    assert HudiTable.open(base).to_arrow(mode="read_optimized").num_rows > 0
