"""Tables that Apache Hudi 1.2.0 wrote (tests/interop/make_fixtures.py) are read as it reads them itself."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from tests.interop.rows import data

FIXTURES = Path(__file__).parents[2] / "fixtures" / "judge"
NAMES = sorted(file.stem for file in FIXTURES.glob("*.zip"))


@pytest.fixture
def unpacked(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, pa.Table]:
    """The table's folder, and the rows that Apache Hudi reads from it."""
    with zipfile.ZipFile(FIXTURES / f"{request.param}.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path / request.param, pq.read_table(tmp_path / f"{request.param}.expected.parquet")


def with_meta_columns(rows: pa.Table) -> list[dict[str, object]]:
    """All columns as Python values; the meta columns under names that `data` keeps."""
    return data(rows.rename_columns([name.removeprefix("_hoodie_") for name in rows.column_names]), order="record_key")


@pytest.mark.parametrize("unpacked", [name for name in NAMES if not name.startswith("encoded")], indirect=True)
def test_the_rows_and_their_meta_columns_are_those_of_apache_hudi(unpacked: tuple[Path, pa.Table]) -> None:
    path, expected = unpacked
    assert with_meta_columns(HudiTable.open(path).to_arrow(meta_columns=True)) == with_meta_columns(expected)


@pytest.mark.parametrize("unpacked", ["encoded_partitions_v9"], indirect=True)
def test_partition_columns_have_the_stored_value_where_apache_hudi_takes_the_path(
    unpacked: tuple[Path, pa.Table],
) -> None:
    path, expected = unpacked
    stored = with_meta_columns(HudiTable.open(path).to_arrow(meta_columns=True))
    # The empty text and null share a folder, from which Apache Hudi reads null for both.
    assert [row["city"] for row in stored] == ["x/y", "a b", "é:=%", "", None]
    assert [{**row, "city": None} for row in stored] == [{**row, "city": None} for row in with_meta_columns(expected)]
