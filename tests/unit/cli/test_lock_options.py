"""Options of locks and of the concurrency mode that are wrong, by the command line: one sentence that names the option, nothing written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from tests.slow_cases import slow_cases

LOCK = "hoodie.write.lock."
FILE_LOCK = f"{LOCK}provider=FileSystemBasedLockProvider"
WRONG = {
    "no base path": ([f"{LOCK}provider=ZookeeperBasedLockProvider"], f"{LOCK}zookeeper.base_path"),
    "no class": ([f"{LOCK}provider=org.mine.Lock"], "is not served"),
    "option of another provider": ([FILE_LOCK, f"{LOCK}zookeeper.url=h:1"], "is an option of ZookeeperBasedLockProvider"),
    "mode for buckets": (["hoodie.write.concurrency.mode=NON_BLOCKING_CONCURRENCY_CONTROL"], "needs the simple bucket index"),
    "no mode": (["hoodie.write.concurrency.mode=both"], "hoodie.write.concurrency.mode"),
    "folder that is relative": ([FILE_LOCK, f"{LOCK}filesystem.path=locks"], f"{LOCK}filesystem.path"),
    "no number": ([FILE_LOCK, f"{LOCK}wait_time_ms=soon"], f"{LOCK}wait_time_ms"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t", keys=["id"], table_type="MERGE_ON_READ")
    table.upsert([{"id": 1}])
    return tmp_path / "t"


@pytest.mark.parametrize("command", slow_cases(["compact", "cluster", "clean"], {"cluster", "clean"}))
@pytest.mark.parametrize(("options", "text"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_named(path: Path, command: str, options: list[str], text: str) -> None:
    before = HudiTable.open(path).history().num_rows
    result = CliRunner().invoke(main, [command, str(path), *(word for option in options for word in ("--option", option))])
    assert result.exit_code != 0
    assert text in result.output
    assert "Traceback" not in result.output
    assert HudiTable.open(path).history().num_rows == before


def test_command_without_the_lock_provider_of_the_writers_is_refused(path: Path) -> None:
    HudiTable.open(path).upsert([{"id": 2}], options={f"{LOCK}provider": "FileSystemBasedLockProvider"})
    result = CliRunner().invoke(main, ["compact", str(path)])
    assert result.exit_code != 0
    assert "is written under the lock provider FileSystemBasedLockProvider" in result.output
    assert CliRunner().invoke(main, ["compact", str(path), "--option", FILE_LOCK]).exit_code == 0
