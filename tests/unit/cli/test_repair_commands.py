"""`pyhudi repair`, `validate`, `drop-partitions`, and commands by the names and flags of Hudi's classes."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from click import Context
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.hudi_classes import COMMANDS
from pyhudi.cli.main import main
from pyhudi.errors import ConflictError
from pyhudi.table.table_services import Services
from tests.docs.pages import ROOT
from tests.not_none import not_none

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    for _ in range(2):
        table.insert([{"id": 1, "city": "oslo"}], options={"hoodie.parquet.small.file.limit": "0"})
    return table


def test_each_repair_has_a_dry_run_and_json(table: HudiTable, tmp_path: Path) -> None:
    path = table.storage.uri
    table.storage.delete("oslo/.hoodie_partition_metadata")
    assert json.loads(run("repair", "partition-metafiles", path, "--dry-run", "--json").output)["action"] == "add"
    assert run("repair", "partition-metafiles", path).output == "partition 'oslo': added\n"
    assert run("repair", "migrate-partition-metafiles", path, "--dry-run").output == "partition 'oslo': would be migrated\n"
    assert run("repair", "clean-files", path).output == "no file of a clean is empty\n"
    assert run("repair", "stale", path, "--minutes", "0").output == "nothing has been inflight for so long\n"
    planned = json.loads(run("repair", "deduplicate", path, "--partition", "oslo", "--dry-run", "--json").output)
    assert (planned["state"], planned["surplus_rows"]) == ("planned", 1)
    assert "1 rows of 1 record keys" in run("repair", "deduplicate", "-sp", path, "--partition", "oslo").output
    assert table.to_arrow().num_rows == 1
    new = tmp_path / "new.properties"
    new.write_bytes(table.storage.read(".hoodie/hoodie.properties") + b"hoodie.table.partial=x\n")
    assert "hoodie.table.partial: (none) -> x" in run("repair", "properties", path, str(new), "--dry-run").output
    assert run("repair", "properties", path, str(tmp_path / "none")).exit_code == 2
    assert run("repair", "properties", str(tmp_path), str(new)).exit_code == 1
    assert not (tmp_path / ".hoodie").exists()


def test_dangling_files_are_removed_and_restored_by_the_flags_of_hudis_class(table: HudiTable, tmp_path: Path) -> None:
    path, backup = table.storage.uri, str(tmp_path / "copies")
    name = next(file.name for file in table.storage.list("oslo") if file.name.endswith(".parquet"))
    stray = f"oslo/{name.rpartition('_')[0]}_20991231000000000.parquet"
    table.storage.create(stray, table.storage.read(f"oslo/{name}"))
    arguments = ("HoodieRepairTool", "--base-path", path, "-bp", backup)
    assert f"would be copied in {backup}\n  {stray}" in run(*arguments, "--mode", "dry_run").output.replace("file://", "")
    assert run(*arguments, "-m", "repair", "-ei", "2098").output == "no file is dangling\n"
    assert json.loads(run(*arguments, "-m", "repair", "-si", "2099", "--json").output)["files"] == [stray]
    assert table.storage.stat(stray) is None
    assert run("HoodieRepairTool", "-sp", path, "-m", "undo").exit_code == 2
    assert run(*arguments, "--mode", "undo").exit_code == 0
    assert table.storage.stat(stray) is not None


def test_validation_ends_with_what_it_found(table: HudiTable) -> None:
    path = table.storage.uri
    assert run("validate", path, "--rows").output == "no problem\n"
    base = next(one.path for one in table.storage.list("oslo") if one.name.endswith(".parquet"))
    table.storage.delete(base)
    problems = run("HoodieMetadataTableValidator", "--base-path", path, "--validate-all-file-groups", "--json")
    assert problems.exit_code == 1
    assert any(base in json.loads(line)["subject"] for line in problems.stdout.splitlines())
    assert run("validate", path, "--ignore-failed").exit_code == 0


def test_partitions_are_dropped(table: HudiTable) -> None:
    path = table.storage.uri
    assert run("drop-partitions", path, "-p", "rome").exit_code == 2
    planned = run("HoodieDropPartitionsTool", "--base-path", path, "--partitions", "oslo", "--mode", "dry_run", "--json")
    assert json.loads(planned.output)["state"] == "planned"
    assert table.to_arrow().num_rows == 2
    assert run("drop-partitions", path, "-p", "oslo").output.startswith("1 partitions with 2 files are dropped")
    assert table.to_arrow().num_rows == 0


@pytest.mark.parametrize("name", [*COMMANDS, *(name.rpartition(".")[2] for name in COMMANDS)])
def test_each_class_of_hudi_has_a_command_with_its_flags(name: str) -> None:
    help_text = run(name, "--help").output
    for flag in ("--base-path", "--props", "--hoodie-conf", "--spark-master", "-ms"):
        assert flag in help_text


def test_validation_says_of_each_flag_of_a_part_that_everything_is_checked(table: HudiTable) -> None:
    flags = [
        name
        for option in not_none(main.get_command(Context(main), "validate")).params
        for name in option.opts
        if name.startswith(("--validate-", "--skip-"))
    ]
    assert len(flags) == 10
    result = run("HoodieMetadataTableValidator", "--base-path", table.storage.uri, *flags)
    assert (result.exit_code, result.stdout) == (0, "no problem\n")
    assert result.stderr.splitlines() == [f"{flag} has no effect: everything is checked in any case" for flag in flags]
    assert run("validate", table.storage.uri).stderr == ""


def test_flags_of_hudis_classes_are_obeyed(table: HudiTable, tmp_path: Path) -> None:
    path, props = table.storage.uri, tmp_path / "p.properties"
    props.write_text("hoodie.clean.commits.retained=1\nhoodie.clean.policy=KEEP_LATEST_COMMITS\n")
    arguments = ("org.apache.hudi.utilities.HoodieCleaner", "--target-base-path", path, "--props", str(props), "--parallelism", "1")
    assert run(*arguments, "--hoodie-conf", "hoodie.clean.commits.retained=x").exit_code == 2  # overrides the file
    assert run(*arguments).exit_code == 0
    assert run(*arguments, "--table-name", "other").exit_code == 2
    assert run("HoodieClusteringJob", "-sp", path, "-m", "scheduleAndExecute", "-tn", "t").output.startswith("clustering ")
    assert run("cluster", path, "--schedule", "--mode", "execute").exit_code == 2
    assert run("cluster", "--mode", "schedule").exit_code == 2
    assert run("cluster", path, "--base-path", "/elsewhere").exit_code == 2
    assert run("clean", path, "--props", str(tmp_path / "none")).exit_code == 2
    noted = run("HoodieTTLJob", "-sp", path, "--days", "1", "--spark-master", "local", "-sf", "x")
    assert noted.exit_code == 0
    assert noted.stderr.count("has no effect") == 2
    built = run("HoodieIndexer", "-sp", path, "-ixt", "FILES,RECORD_INDEX", "-m", "scheduleAndExecute")
    assert built.output == "built record_index\n"
    assert run("HoodieIndexer", "-sp", path, "-ixt", "RECORD_INDEX", "-m", "dropindex").output == "dropped record_index\n"
    assert run("HoodieIndexer", "-sp", path, "-ixt", "OTHER").exit_code == 2


def test_classes_that_run_plans_plan_nothing_unless_they_are_asked_to(table: HudiTable) -> None:
    path = table.storage.uri
    job = ("org.apache.hudi.utilities.HoodieClusteringJob", "-sp", path, "-tn", "t")
    assert run(*job).output == "nothing to cluster\n"
    assert run(*job, "-sch").exit_code == 0
    run_now = run(*job, "-m", "scheduleAndExecute", "-rc", "-jt", "1000", "--skip-clean", "--json")
    assert json.loads(run_now.stdout)["state"] == "completed"
    noted = [line.partition(" has no effect: ")[0] for line in run_now.stderr.splitlines()]
    assert noted == ["--retry-last-failed-job", "--job-max-processing-time-ms", "--skip-clean"]
    assert run("cluster", path, "--retry-last-failed-clustering-job").stderr.startswith("--retry-last-failed-job has no effect")
    compactor = run("HoodieCompactor", "-sp", path, "-st", "LogFileSizeBasedCompactionStrategy", "-sch")
    assert compactor.stderr.endswith("is copy-on-write: it has no log files to compact.\n")
    assert run("HoodieCompactor", "-h").output == run("HoodieCompactor", "--help").output


def test_a_failed_try_is_repeated(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def fail(*_: object, **__: object) -> tuple[()]:
        tries.append(1)
        if len(tries) < 3:
            raise ConflictError("busy")
        return ()

    monkeypatch.setattr(Services, "clean", fail)
    assert run("clean", table.storage.uri, "--retry", "1").exit_code == 1
    tries.clear()
    assert run("clean", table.storage.uri, "--retry", "2").exit_code == 0


def test_an_interrupt_has_its_exit_code(table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Services, "clean", interrupt)
    assert run("clean", table.storage.uri).exit_code == 130


def test_the_console_command_is_named_in_its_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/pyhudi", "--help"])
    with pytest.raises(SystemExit):
        importlib.import_module("pyhudi.__main__").run()
    assert capsys.readouterr().out.startswith("Usage: pyhudi ")


def test_the_page_on_commands_has_the_table_of_classes() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    rows = [f"| `{name.rpartition('.')[2]}` | `{' '.join(words)}` |" for name, words in COMMANDS.items()]
    assert [row for row in rows if row not in page] == []
    assert [f"`{name}`" for name in main.list_commands(Context(main)) if f"`{name}`" not in page] == []
