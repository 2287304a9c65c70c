"""The option `hoodie.base.path`: accepted where it is the table's path, refused where it is another one."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError
from pyhudi.read.snapshot.find_table import check_base_path

OPTION = "hoodie.base.path"
ROWS = [{"id": 1}]


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    made = HudiTable.create(tmp_path / "t", pa.schema([("id", pa.int64())]), name="t", keys=["id"])
    made.insert(ROWS)
    return made


def test_the_path_of_the_table_is_accepted_in_each_way_to_write_it(table: HudiTable, tmp_path: Path) -> None:
    for path in (f"{tmp_path}/t", f"{tmp_path}/t/", f"file:{tmp_path}/t", f"file://{tmp_path}/t", f"{tmp_path}/x/../t"):
        table.upsert(ROWS, {OPTION: path})
        assert table.to_arrow(options={OPTION: path}).to_pylist() == ROWS


def test_a_link_to_the_table_is_its_path(table: HudiTable, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("t")
    assert table.to_arrow(options={OPTION: f"{tmp_path}/link"}).to_pylist() == ROWS
    assert HudiTable.open(tmp_path / "link").to_arrow(options={OPTION: f"file:{tmp_path}/t"}).to_pylist() == ROWS


def test_another_path_is_refused_by_writes_reads_and_services(table: HudiTable, tmp_path: Path) -> None:
    options = {OPTION: f"{tmp_path}/other"}
    before = table.history()
    for call in (
        lambda: table.upsert(ROWS, options),
        lambda: table.delete(ROWS, options=options),
        lambda: table.to_arrow(options=options),
        lambda: table.changes(options=options),
        lambda: table.services.clean(options=options),
    ):
        with pytest.raises(OptionError, match=r"hoodie\.base\.path=.*/other is not the path of this table, which is at .*/t: leave"):
            call()
    assert table.history() == before
    assert not (tmp_path / "other").exists()


def test_schemes_of_one_object_store_are_the_same() -> None:
    check_base_path("s3a://bucket/t/", "s3://bucket/t")
    with pytest.raises(OptionError, match="not the path"):
        check_base_path("s3a://bucket/t", "gs://bucket/t")
