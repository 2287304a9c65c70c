"""The commands of Apache Hudi's page about bootstrapping (1.0 and 1.1), statement by statement, and wrong input by the command line.

What Spark takes of the page is in tests/spark/sql/test_bootstrap_procedures.py; what is refused is in docs/differences.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main
from pyhudi.fsview.bootstrap_index import indexed_partitions
from tests.bootstrapped import SELECTOR, all_amounts, amounts, rides, write_source

CLASSES = "org.apache.hudi.client.bootstrap.selector"
STREAMERS = (
    "HoodieStreamer",
    "HoodieDeltaStreamer",
    "org.apache.hudi.utilities.streamer.HoodieStreamer",
    "org.apache.hudi.utilities.deltastreamer.HoodieDeltaStreamer",
)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def confs(**options: object) -> list[str]:
    return [part for name, value in options.items() for part in ("--hoodie-conf", f"hoodie.{name.replace('__', '.')}={value}")]


def streamer(path: Path, source: Path, *flags: object, name: str = "HoodieStreamer", **options: object) -> Result:
    """The command of the page, for the keys and partitions of the rides."""
    stated = {
        "bootstrap__base__path": source,
        "datasource__write__recordkey__field": "id",
        "datasource__write__partitionpath__field": "city",
        "datasource__write__precombine__field": "ts",
        "bootstrap__keygen__class": "org.apache.hudi.keygen.SimpleKeyGenerator",
        "datasource__write__hive_style_partitioning": "true",
        **options,
    }
    target = ("--target-base-path", path, "--target-table", "bootstrap_table", "--table-type", "COPY_ON_WRITE")
    return run(name, "--run-bootstrap", *target, *confs(**stated), *flags)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "plain", hive_style=True)


REGEX = {
    "bootstrap__mode__selector": f"{CLASSES}.BootstrapRegexModeSelector",
    "bootstrap__mode__selector__regex": ".*",
    "bootstrap__mode__selector__regex__mode": "FULL_RECORD",
}


@pytest.mark.parametrize("name", STREAMERS)
def test_hudi_streamer_copies_what_the_pattern_matches(tmp_path: Path, source: Path, name: str) -> None:
    done = streamer(tmp_path / "t", source, name=name, **REGEX)
    assert done.exit_code == 0, done.output
    table = HudiTable.open(tmp_path / "t")
    assert (table.config.name, amounts(table)) == ("bootstrap_table", all_amounts())
    assert table.count(filter="_hoodie_commit_time = '00000000000002'") == 60
    assert table.config.hive_style
    assert list(table.config.ordering_fields) == ["ts"]


@pytest.mark.parametrize(
    ("options", "indexed"),
    [
        ({}, ["city=lima", "city=oslo", "city=rome"]),
        ({"bootstrap__mode__selector": f"{CLASSES}.MetadataOnlyBootstrapModeSelector"}, ["city=lima", "city=oslo", "city=rome"]),
        ({"bootstrap__mode__selector": f"{CLASSES}.FullRecordBootstrapModeSelector"}, []),
        ({"bootstrap__mode__selector": f"{CLASSES}.BootstrapRegexModeSelector"}, ["city=lima", "city=oslo", "city=rome"]),
        ({**REGEX, "bootstrap__mode__selector__regex": "city=.o.*"}, ["city=lima", "city=oslo"]),
        (
            {**REGEX, "bootstrap__mode__selector__regex": ".*lima", "bootstrap__mode__selector__regex__mode": "METADATA_ONLY"},
            ["city=lima"],
        ),
    ],
)
def test_the_modes_of_the_table_of_options(tmp_path: Path, source: Path, options: dict[str, str], indexed: list[str]) -> None:
    assert streamer(tmp_path / "t", source, **options).exit_code == 0
    table = HudiTable.open(tmp_path / "t")
    assert [one.partition_path for one in indexed_partitions(table.storage)] == indexed
    assert amounts(table) == all_amounts()


def test_the_command_of_hudi_cli(tmp_path: Path, source: Path) -> None:
    done = run(
        *("bootstrap", "--srcPath", source, "--targetPath", tmp_path / "t", "--tableName", "bootstrap_table"),
        *("--tableType", "COPY_ON_WRITE", "--rowKeyField", "id", "--partitionPathField", "city", "--sparkMaster", "local"),
        *("--hoodieConfigs", "hoodie.datasource.write.hive_style_partitioning=true,hoodie.table.ordering.fields=ts"),
        *("--selectorClass", f"{CLASSES}.FullRecordBootstrapModeSelector", "--enableHiveSync", "false"),
    )
    assert done.exit_code == 0, done.output
    assert "--spark-master has no effect" in done.stderr
    assert amounts(HudiTable.open(tmp_path / "t")) == all_amounts()


def test_new_partitions_alone(tmp_path: Path) -> None:
    """The first approach of the page: a table that begins with new partitions, and partitions of another folder that stay as they are."""
    table = HudiTable.create(tmp_path / "t", rides([0], "lima").schema, name="t", keys=["id"], partition_by=["city"])
    other = write_source(tmp_path / "t" / "old")
    table.insert(rides([70], "bergen"))
    assert amounts(table) == {"k70": 70.0}
    assert len(list(other.rglob("*.parquet"))) == 6


def test_a_loop_over_partitions_makes_the_table(tmp_path: Path, source: Path) -> None:
    table = HudiTable.create(tmp_path / "t", rides([0], "lima").schema, name="t", keys=["id"], partition_by=["city"])
    for folder in sorted(source.iterdir()):
        for file in sorted(folder.iterdir()):
            table.bulk_insert(file)
    assert amounts(table) == all_amounts()


def test_of_hudi_streamer_nothing_else_is_served(tmp_path: Path, source: Path) -> None:
    refused = run("HoodieStreamer", "--target-base-path", tmp_path / "t", "--target-table", "t", "--source-class", "ParquetDFSSource")
    assert (refused.exit_code, "only --run-bootstrap is served" in refused.stderr) == (2, True)
    for flags, part in (
        (("--bootstrap-overwrite",), "would delete the table"),
        (("--schemaprovider-class", "org.mine.Provider"), "the schema is that of the source files"),
    ):
        refused = streamer(tmp_path / "t", source, *flags)
        assert (refused.exit_code, part in refused.stderr) == (1, True), refused.output
    assert not (tmp_path / "t").exists()
    noted = streamer(tmp_path / "t", source, "--source-class", "org.apache.hudi.utilities.sources.ParquetDFSSource", "--op", "BULK_INSERT")
    assert noted.exit_code == 0, noted.output
    assert noted.stderr.count("has no effect") == 2


def _text(source: Path) -> None:
    (source / "city=oslo" / "c.parquet").write_text("no Parquet")


def _link(source: Path) -> None:
    (source / "city=peru").symlink_to(source / "city=lima")


@pytest.mark.parametrize(
    ("change", "flags", "options", "part"),
    [
        (_text, (), {}, "c.parquet' of"),
        (_link, (), {}, "is a link"),
        (None, (), {"datasource__write__hive_style_partitioning": "false"}, "in the folder 'city=lima'"),
        (None, (), {"datasource__write__recordkey__field": "no_such"}, "no_such"),
        (None, (), {"datasource__write__recordkey__field": ""}, "needs record key fields"),
        (None, (), {"bootstrap__mode__selector": "Mine"}, "Mine"),
        (None, (), {"bootstrap__base__path": "/no/such/folder"}, "/no/such/folder holds no Parquet file"),
        (None, ("--enable-sync", "--hoodie-conf", "hoodie.datasource.hive_sync.partition_extractor_class=None"), {}, "extractor"),
        (None, ("--props", "/no/such/file"), {}, "does not exist"),
        (None, ("elsewhere",), {}, "two tables are named"),
    ],
)
def test_wrong_input_leaves_nothing(
    tmp_path: Path, source: Path, change: Callable[[Path], None] | None, flags: tuple[str, ...], options: dict[str, str], part: str
) -> None:
    if change is not None:
        change(source)
    refused = streamer(tmp_path / "new" / "t", source, *flags, **options)
    assert refused.exit_code in (1, 2), refused.output
    assert part in refused.stderr
    assert "Traceback" not in refused.output
    assert not (tmp_path / "new").exists()


def test_a_bootstrap_onto_a_table_or_into_its_source(tmp_path: Path, source: Path) -> None:
    assert streamer(tmp_path / "t", source).exit_code == 0
    again = streamer(tmp_path / "t", source)
    assert (again.exit_code, "There is a Hudi table at" in again.stderr) == (1, True), again.output
    inside = streamer(source / "t", source)
    assert (inside.exit_code, "must be two folders" in inside.stderr) == (2, True)
    assert sorted(one.name for one in source.iterdir()) == ["city=lima", "city=oslo", "city=rome"]
    assert SELECTOR not in again.stderr
    assert amounts(HudiTable.open(tmp_path / "t")) == all_amounts()
