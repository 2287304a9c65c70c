"""`hudi-defaults.conf`: what it says holds for every table, and goes behind everything else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError
from pyhudi.spec.options import merge_options
from pyhudi.storage.defaults_file import default_options

SCHEMA = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("part", pa.string())])


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HUDI_CONF_DIR", str(tmp_path))
    return tmp_path / "hudi-defaults.conf"


def test_lines_are_parted_by_equals_or_blanks_and_may_include_files(conf: Path) -> None:
    conf.with_name("more.conf").write_text("hoodie.parquet.page.size\t4096\n")
    conf.write_text("# all tables\n\nhoodie.index.type = GLOBAL_SIMPLE\nhoodie.parquet.max.file.size 1000000\ninclude=more.conf\n")
    assert default_options() == {
        "hoodie.index.type": "GLOBAL_SIMPLE",
        "hoodie.parquet.max.file.size": "1000000",
        "hoodie.parquet.page.size": "4096",
    }


def test_changed_file_is_read_again(conf: Path) -> None:
    conf.write_text("hoodie.parquet.page.size=1000\n")
    assert default_options() == {"hoodie.parquet.page.size": "1000"}
    conf.write_text("hoodie.parquet.page.size=2000000\n")
    assert default_options() == {"hoodie.parquet.page.size": "2000000"}


@pytest.mark.parametrize(
    "line", ["hoodie.table.nam=1", "hoodie.parquet.page.size=many", "hoodie.parquet.page.size", "include=hudi-defaults.conf"]
)
def test_bad_line_is_named_with_its_file(conf: Path, line: str) -> None:
    conf.write_text(f"# first\n{line}\n")
    with pytest.raises(OptionError, match=r"hudi-defaults\.conf"):
        default_options()


def test_named_folder_without_the_file_is_an_error(conf: Path) -> None:
    with pytest.raises(OptionError, match="HUDI_CONF_DIR"):
        default_options()


def test_new_table_takes_defaults_and_the_call_overrules_them(conf: Path) -> None:
    conf.write_text("hoodie.datasource.write.hive_style_partitioning=true\nhoodie.datasource.write.insert.drop.duplicates=true\n")
    table = HudiTable.create("memory://defaults_new", SCHEMA, name="t", keys=["id"], partition_by=["part"])
    assert table.config.hive_style
    row = [{"id": 1, "ts": 1, "part": "a"}]
    table.insert(row)
    assert table.insert(row).inserted == 0
    assert table.insert(row, {"hoodie.datasource.write.insert.drop.duplicates": "false"}).inserted == 1


def test_defaults_about_tables_do_not_contradict_a_table_that_stands(conf: Path) -> None:
    conf.write_text("")
    table = HudiTable.create("memory://defaults_old", SCHEMA, name="t", keys=["id"], partition_by=["part"])
    conf.write_text("hoodie.datasource.write.hive_style_partitioning=true\n")
    assert table.upsert([{"id": 1, "ts": 1, "part": "a"}]).inserted == 1


def test_arguments_of_a_creation_go_before_the_file(conf: Path) -> None:
    conf.write_text(
        "hoodie.datasource.write.recordkey.field=ts\nhoodie.table.partition.fields=id\nhoodie.table.name=other\n"
        "hoodie.datasource.write.table.type=MERGE_ON_READ\n"
    )
    table = HudiTable.create("memory://defaults_arguments", SCHEMA, name="t", keys=["id"])
    assert (table.config.name, table.config.record_key_fields, table.config.partition_fields) == ("t", ("id",), ())
    assert table.config.is_merge_on_read
    assert not HudiTable.create("memory://defaults_type", SCHEMA, name="t", table_type="COPY_ON_WRITE").config.is_merge_on_read


def test_reads_look_at_the_file(conf: Path) -> None:
    conf.touch()
    table = HudiTable.create("memory://defaults_read", SCHEMA, name="t", keys=["id"])
    conf.write_text("hoodie.memory.merge.max.size=none\n")
    with pytest.raises(OptionError, match=r"hudi-defaults\.conf, line 1"):
        table.to_arrow()
    conf.write_text("hoodie.memory.merge.max.size=1000\n")
    assert table.to_arrow(options={"hoodie.memory.merge.max.size": "2000"}).num_rows == 0


def test_later_level_goes_before_earlier_ones_under_any_name() -> None:
    assert merge_options({"hoodie.table.ordering.fields": "a"}, {"preCombineField": "b"}) == {"preCombineField": "b"}
