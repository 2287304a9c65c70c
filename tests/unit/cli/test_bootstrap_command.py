"""`python -m pyhudi bootstrap`."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main
from tests.bootstrapped import SELECTOR, all_amounts, amounts, write_source


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["bootstrap", *map(str, arguments)])


def test_a_folder_becomes_a_table_by_flags_of_both_spellings(tmp_path: Path) -> None:
    source = write_source(tmp_path / "plain")
    done = run(tmp_path / "a", "--source", source, "--table-name", "rides", "--record-key", "id", "--partition-by", "city")
    assert done.output == f"bootstrapped {tmp_path / 'a'}: 60 rows of {source}\n"
    (tmp_path / "props").write_text(f"{SELECTOR}.regex=oslo\n")
    hudi_cli = ("--srcPath", source, "--tableName", "rides", "--rowKeyField", "id", "--partitionPathField", "city", "--order-by", "ts")
    regex = ("--selectorClass", "BootstrapRegexModeSelector", "--propsFilePath", tmp_path / "props", "--parallelism", 2)
    done = run(tmp_path / "b", *hudi_cli, *regex, "--tableType", "MERGE_ON_READ")
    assert done.exit_code == 0, done.output
    for name in ("a", "b"):
        assert amounts(HudiTable.open(tmp_path / name)) == all_amounts()
    assert HudiTable.open(tmp_path / "b").count(filter="_hoodie_commit_time = '00000000000001'") == 20


def test_wrong_calls_are_refused(tmp_path: Path) -> None:
    source = write_source(tmp_path / "plain")
    assert run(tmp_path / "a", "--source", source, "--table-name", "rides", "--record-key", "id").exit_code == 2
    assert run(tmp_path / "a", "--source", tmp_path / "none", "--table-name", "rides", "--record-key", "id").exit_code == 2
    assert not (tmp_path / "a" / ".hoodie").exists()
