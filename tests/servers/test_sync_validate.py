"""`CALL sync_validate` of two tables that a HiveServer2-compatible server counts, on a real metastore."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable
from tests.servers.java_server import free_port
from tests.servers.sql_session import answers
from tests.servers.synced import HIVE, Synced

SCHEMA = pa.schema({"id": pa.int64(), "day": pa.string()})


def _days_ago(number: int) -> str:
    return str(datetime.datetime.now(tz=datetime.UTC).date() - datetime.timedelta(days=number))


def _synced(metastore: str, server: str, path: Path, database: str, rows: list[tuple[int, int]]) -> Synced:
    """A table with one commit for each row, given by its number and the age of its day, in a database of the server."""
    table = HudiTable.create(path, SCHEMA, name=path.name, keys=["id"], partition_by=["day"])
    for number, age in rows:
        table.upsert([{"id": number, "day": _days_ago(age)}])
    options = {f"{HIVE}.mode": "jdbc", f"{HIVE}.jdbcurl": server, f"{HIVE}.sync_as_datasource": "false"}
    synced = Synced(table, metastore, database, options)
    synced.sync()
    return synced


def test_rows_of_two_tables_are_compared_as_the_server_counts_them(metastore: str, server: str, tmp_path: Path) -> None:
    raw, dwh = (f"{name}_{tmp_path.name}".lower() for name in ("raw", "dwh"))
    copy = _synced(metastore, server, tmp_path / "copied", dwh, [(1, 1), (2, 30)])
    rides = _synced(metastore, server, tmp_path / "rides", raw, [(1, 1), (2, 30), (3, 1), (4, 40)])

    def call(**changes: object) -> str:
        given: dict[str, object] = {"src_table": "rides", "dst_table": "copied", "mode": "complete", "hive_server_url": server}
        given |= {"hive_pass": "hive", "src_db": raw, "target_db": dwh, **changes}
        return f"CALL sync_validate({', '.join(f'{name} => {value!r}' for name, value in given.items())})"

    tables = [f"CREATE TABLE {one.table.config.name} USING hudi LOCATION '{one.table.storage.uri}'" for one in (copy, rides)]
    port = free_port()
    both, recent, wide, mode, server_down, not_there, no_table = answers(
        [
            *tables,
            call(),
            call(mode="latestPartitions"),
            call(mode="latestPartitions", partition_cnt=35),
            call(mode="latest"),
            call(hive_server_url=f"jdbc:hive2://127.0.0.1:{port}"),
            call(target_db=raw),
            call(dst_table="other"),
        ],
        tmp_path / "warehouse",
    )[2:]
    # Four rows are new, and one was written again with the file that the third went into.
    difference = "Count difference now is count(rides) - count(copied) == {}. Catch up count is 5"
    assert (both, recent, wide) == ([[difference.format(2)]], [[difference.format(1)]], [[difference.format(1)]])
    assert "mode is 'latest'; it is one of complete, latestPartitions" in mode
    assert f"no HiveServer2 answers ({HIVE}.jdbcurl=jdbc:hive2://127.0.0.1:{port})" in server_down
    assert f"refused counting the rows of `{raw}`.`copied`" in not_there
    assert "dst_table 'other' is no Hudi table" in no_table
