"""Apache Hudi's pages about the synchronisation with a Hive metastore (0.15, 1.0, 1.1), command by command and option by option.

The Spark example of the page is in tests/servers/metastore_session.py. What is refused is in docs/differences.md.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from pyhudi import HudiTable
from pyhudi.cli.main import main
from pyhudi.errors import CatalogError, OptionError, UsageError
from tests.servers.java_server import free_port, hive_metastore
from tests.servers.synced import HIVE, Synced

SCHEMA = pa.schema({"rowId": pa.string(), "partitionId": pa.string(), "preComb": pa.int64(), "name": pa.string()})
ROWS = [("row_1", "2021/01/01", 0, "bob"), ("row_2", "2021/01/01", 0, "john"), ("row_3", "2021/01/02", 0, "tom")]
DAYS = {("2021/01/01",), ("2021/01/02",)}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def synced(metastore: str, tmp_path: Path) -> Synced:
    """The table of the page, not synchronised yet."""
    options = {"hoodie.datasource.write.hive_style_partitioning": "true"}
    table = HudiTable.create(
        tmp_path / "hudi_mor",
        SCHEMA,
        name="hudi_mor",
        keys=["rowId"],
        partition_by=["partitionId"],
        order_by=["preComb"],
        table_type="MERGE_ON_READ",
        options=options,
    )
    table.upsert([dict(zip(SCHEMA.names, row, strict=True)) for row in ROWS])
    return Synced(table, metastore, f"guide_{tmp_path.name}".lower())


def tool(synced: Synced, *flags: object, name: str = "HiveSyncTool") -> Result:
    """`run_sync_tool.sh` with the flags that its page calls required."""
    required = ("--database", synced.database, "--table", "hudi_mor", "--base-path", synced.table.storage.uri)
    return run(name, *required, "--metastore-uris", synced.uri, *flags)


@pytest.mark.parametrize("name", ["HiveSyncTool", "org.apache.hudi.hive.HiveSyncTool"])
def test_the_tool_in_mode_hms(synced: Synced, name: str) -> None:
    done = tool(synced, "--sync-mode", "hms", "--use-jdbc", "false", "--partitioned-by", "partitionId", name=name)
    assert done.exit_code == 0, done.output
    assert synced.names() == ["hudi_mor", "hudi_mor_ro", "hudi_mor_rt"]
    assert synced.partitions("hudi_mor_ro").keys() == DAYS


@pytest.mark.parametrize(("mode", "flags"), [("jdbc", ()), ("hiveql", ("--use-jdbc", "false"))])
def test_the_tool_by_sql(synced: Synced, server: str, mode: str, flags: tuple[str, ...]) -> None:
    login = ("--jdbc-url", server, "--user", "hive", "--pass", "hive", "--partitioned-by", "partitionId")
    done = tool(synced, "--sync-mode", mode, *login, "--spark-datasource", "false", *flags)
    assert done.exit_code == 0, done.output
    assert synced.partitions("hudi_mor_rt").keys() == DAYS


def test_a_url_alone_is_the_mode_jdbc(synced: Synced) -> None:
    """The first command of the page names no mode."""
    nowhere = f"jdbc:hive2://127.0.0.1:{free_port()}"
    done = run("HiveSyncTool", "--base-path", synced.table.storage.uri, "--database", "d", "--table", "t", "--jdbc-url", nowhere)
    assert done.exit_code == 1
    assert "no HiveServer2 answers" in done.stderr


def test_the_suffix_of_the_read_optimised_table(synced: Synced) -> None:
    assert tool(synced, "--skip-ro-suffix").exit_code == 0
    assert synced.names() == ["hudi_mor", "hudi_mor_rt"]
    assert synced.entry("hudi_mor").sd.inputFormat == "org.apache.hudi.hadoop.HoodieParquetInputFormat"


def test_the_help_lists_the_options_of_the_page() -> None:
    text = run("HiveSyncTool", "--help").output
    flags = ("--database", "--table", "--user", "--pass", "--jdbc-url", "--sync-mode", "--partitioned-by", "--partition-value-extractor")
    assert [flag for flag in (*flags, "--base-path", "--use-jdbc", "--skip-ro-suffix") if flag not in text] == []


EXTRACTORS = [
    ("2021/01/01", "MultiPartKeysValueExtractor", ("y", "m", "d"), ("2021", "01", "01")),
    ("2021/01/01", "SinglePartPartitionValueExtractor", ("y",), ("2021-01-01",)),
    ("2021/01/01", "SlashEncodedDayPartitionValueExtractor", ("y",), ("2021-01-01",)),
    ("2021/01/01/08", "SlashEncodedHourPartitionValueExtractor", ("y",), ("2021-01-01-08",)),
    ("y=2021", "HiveStylePartitionValueExtractor", ("y",), ("2021",)),
]


@pytest.mark.parametrize(("path", "extractor", "fields", "values"), EXTRACTORS)
def test_partition_extractors(
    metastore: str, tmp_path: Path, path: str, extractor: str, fields: tuple[str, ...], values: tuple[str, ...]
) -> None:
    options = {"hoodie.datasource.write.hive_style_partitioning": str("=" in path).lower()}
    schema = pa.schema({"id": pa.int64(), "y": pa.string()})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=["y"], options=options)
    table.upsert([{"id": 1, "y": path.rpartition("=")[2]}])
    one = Synced(table, metastore, f"guide_{tmp_path.name}".lower())
    one.sync({f"{HIVE}.partition_extractor_class": f"org.apache.hudi.hive.{extractor}", f"{HIVE}.partition_fields": ",".join(fields)})
    assert one.partitions("t").keys() == {values}


def test_a_table_without_partitions(metastore: str, tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t", keys=["id"])
    table.upsert([{"id": 1}])
    one = Synced(table, metastore, f"guide_{tmp_path.name}".lower())
    for options in ({}, {f"{HIVE}.partition_extractor_class": "org.apache.hudi.hive.NonPartitionedExtractor"}):
        one.sync(options)
        assert (one.partitions("t"), one.entry("t").partitionKeys) == ({}, [])


WRONG: list[tuple[dict[str, str], type[Exception], str]] = [
    ({f"{HIVE}.partition_extractor_class": "NoSuchExtractor"}, OptionError, "no such extractor"),
    ({f"{HIVE}.partition_extractor_class": "NonPartitionedExtractor"}, OptionError, "contradicts the partition field"),
    ({f"{HIVE}.partition_extractor_class": "SlashEncodedHourPartitionValueExtractor"}, UsageError, "partitionId=2021"),
    ({f"{HIVE}.mode": "hms", f"{HIVE}.use_jdbc": "true"}, OptionError, "contradict each other"),
    ({f"{HIVE}.metastore.uris": "thrift://127.0.0.1:port"}, OptionError, "metastore.uris"),
    ({f"{HIVE}.metastore.uris": f"thrift://127.0.0.1:{free_port()}"}, CatalogError, "answers"),
    ({"hoodie.meta.sync.client.tool.class": "org.mine.Tool"}, OptionError, "there is no such tool"),
]


@pytest.mark.parametrize(("options", "error", "part"), WRONG)
def test_wrong_input_by_each_way(synced: Synced, options: dict[str, str], error: type[Exception], part: str) -> None:
    """By the method, by the command line, and by a write, whose rows stay committed where only the catalog is at fault."""
    stated = {**synced.sync_options, **options}
    with pytest.raises(error, match=part):
        synced.table.services.sync(options=stated)
    flags = [word for name, value in stated.items() for word in ("--hoodie-conf", f"{name}={value}")]
    done = run("sync", "hive", synced.table.storage.uri, *flags)
    assert done.exit_code in (1, 2)
    assert (part in done.stderr, "Traceback" in done.output) == (True, False)
    row = dict(zip(SCHEMA.names, ("row_4", "2021/01/03", 1, "ann"), strict=True))
    written = {**stated, f"{HIVE}.enable": "true"}
    if error is OptionError:
        with pytest.raises(OptionError, match=part):
            synced.table.upsert([row], written)
        assert synced.table.count() == 3
    else:
        result = synced.table.upsert([row], written)
        assert any(part in problem for problem in map(str, result.failed_services))
        assert synced.table.count() == 4


@pytest.mark.slow
def test_a_metastore_that_ends_in_between_is_caught_up(synced: Synced, tmp_path: Path) -> None:
    options = {**synced.sync_options, f"{HIVE}.enable": "true"}
    known, new = (dict(zip(SCHEMA.names, row, strict=True)) for row in (ROWS[0], ("row_4", "2021/01/03", 1, "ann")))
    port = free_port()
    with hive_metastore(tmp_path / "first", port) as uri:
        options[f"{HIVE}.metastore.uris"] = uri
        assert not synced.table.upsert([known], options).failed_services
    assert synced.table.upsert([new], options).failed_services
    assert synced.table.count() == 4
    with hive_metastore(tmp_path / "first", port):
        assert synced.sync(options)[0].added == 1
