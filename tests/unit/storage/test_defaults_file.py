"""`hudi-defaults.conf`: what it says holds for every table, and goes behind everything else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError
from pyhudi.spec.options import merge_options
from pyhudi.storage import defaults_file
from pyhudi.storage.defaults_file import default_options

SCHEMA = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("part", pa.string())])


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HUDI_CONF_DIR", str(tmp_path))
    for variable in ("SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "hudi-defaults.conf"


def test_lines_are_parted_by_equals_or_blanks_and_may_include_files(conf: Path) -> None:
    conf.with_name("more.conf").write_text("hoodie.parquet.page.size\t4096\n")
    conf.write_text("# all tables\n\nhoodie.index.type = GLOBAL_SIMPLE\nhoodie.parquet.max.file.size 1000000\ninclude=more.conf\n")
    assert default_options() == {
        "hoodie.index.type": "GLOBAL_SIMPLE",
        "hoodie.parquet.max.file.size": "1000000",
        "hoodie.parquet.page.size": "4096",
    }


def test_values_may_hold_equals_and_editors_marks_are_no_part_of_a_key(conf: Path) -> None:
    conf.write_text("\ufeffhoodie.parquet.page.size=4096\r\nhoodie.datasource.hive_sync.jdbcurl  jdbc:hive2://h:10000/;a=b\r\n")
    assert default_options() == {"hoodie.parquet.page.size": "4096", "hoodie.datasource.hive_sync.jdbcurl": "jdbc:hive2://h:10000/;a=b"}


def test_named_folder_goes_before_the_machines(conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = tmp_path / "machine" / conf.name
    machine.parent.mkdir()
    machine.write_text("hoodie.table.ordering.fields=a\nhoodie.parquet.page.size=4096\n")
    monkeypatch.setattr(defaults_file, "_FOLDER", str(machine.parent))
    conf.write_text("preCombineField=b\n")
    assert default_options() == {"hoodie.parquet.page.size": "4096", "preCombineField": "b"}
    monkeypatch.setenv("HUDI_CONF_DIR", conf.parent.as_uri())
    assert default_options() == {"hoodie.parquet.page.size": "4096", "preCombineField": "b"}


def test_file_in_sparks_folder_counts_alone(conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf.write_text("hoodie.parquet.page.size=4096\n")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    assert default_options() == {"hoodie.parquet.page.size": "4096"}
    of_spark = tmp_path / "spark" / "conf" / conf.name
    of_spark.parent.mkdir(parents=True)
    of_spark.write_text("hoodie.index.type=SIMPLE\n")
    assert default_options() == {"hoodie.index.type": "SIMPLE"}
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert default_options() == {"hoodie.parquet.page.size": "4096"}


def test_folder_of_another_machine_is_refused(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUDI_CONF_DIR", "s3://bucket/conf")
    with pytest.raises(OptionError, match="only a folder of this machine"):
        default_options()


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


def test_line_of_another_program_is_warned_of_with_its_place(conf: Path, caplog: pytest.LogCaptureFixture) -> None:
    conf.with_name("more.conf").write_text("# of Hadoop\nfs.timeout 5\n")
    conf.write_text("include=more.conf\nspark.sql.shuffle.partitions=4\n_job=nightly\nspark.hoodie.parquet.page.size=4096\nprimaryKey=id\n")
    default_options()
    default_options()
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warned == [
        f"{conf.with_name('more.conf')}, line 2: 'fs.timeout' has no effect: it is none of Hudi's options",
        f"{conf}, line 2: 'spark.sql.shuffle.partitions' has no effect: it is none of Hudi's options",
    ]


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


def test_services_take_defaults_and_the_call_overrules_them(conf: Path) -> None:
    conf.write_text("hoodie.clean.automatic=false\nhoodie.archive.automatic=false\n")
    table = HudiTable.create("memory://defaults_services", SCHEMA, name="t", keys=["id"])
    for ts in range(12):
        table.upsert([{"id": 1, "ts": ts, "part": "a"}])
    conf.write_text("hoodie.clean.commits.retained=20\n")
    assert not table.services.clean(dry_run=True)
    assert table.services.clean(options={"hoodie.cleaner.commits.retained": "3"}, dry_run=True)
    conf.write_text("hoodie.clean.commits.retained=some\n")
    for service in (table.services.clean, table.services.archive, table.services.compact, table.services.cluster, table.services.sync):
        with pytest.raises(OptionError, match=r"hudi-defaults\.conf, line 1"):
            service()


def test_compaction_of_an_upgrade_takes_defaults(conf: Path, tmp_path: Path) -> None:
    conf.write_text("hoodie.compact.inline=false\nhoodie.write.table.version=6\n")
    table = HudiTable.create(str(tmp_path / "t"), SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    for ts in (1, 2):
        table.upsert([{"id": 1, "ts": ts, "part": "a"}])
    conf.write_text("hoodie.parquet.compression.codec=snappy\n")
    table.services.upgrade(9)
    newest = max((tmp_path / "t").glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    assert pq.ParquetFile(newest).metadata.row_group(0).column(0).compression == "SNAPPY"


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
