"""Damaged tables: whatever is cut off, a read gives the right rows or one typed error, never a wrong row or a bare one."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, HudiError, TableNotFound, UnsupportedError
from tests.tables import unpack


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table of version 9: one insert, updates, deletes, an overwrite."""
    return unpack("apache_hudi/sql_operations_v9", tmp_path)


def rows(path: Path) -> pa.Table:
    return HudiTable.open(path).to_arrow().sort_by("id")


def test_every_prefix_of_the_properties_gives_the_rows_or_an_error(table: Path) -> None:
    file = table / ".hoodie" / "hoodie.properties"
    whole, expected = file.read_bytes(), rows(table)
    errors = set()
    for end in range(0, len(whole), 7):
        file.write_bytes(whole[:end])
        try:
            assert rows(table).equals(expected)
        except HudiError as error:
            errors.add(type(error))
    assert errors == {CorruptTableError}


@pytest.mark.parametrize("junk", [b"\x00" * 100, b"PAR1", b"=\n=\n", b"\xff\xfe", b"hoodie.table.name", b"a=\\u12"], ids=repr)
def test_junk_for_properties_is_an_error(junk: bytes, table: Path) -> None:
    (table / ".hoodie" / "hoodie.properties").write_bytes(junk)
    with pytest.raises(CorruptTableError):
        HudiTable.open(table)


def test_a_class_name_in_the_properties_is_not_run(table: Path) -> None:
    file = table / ".hoodie" / "hoodie.properties"
    file.write_bytes(file.read_bytes() + b"hoodie.table.keygenerator.class=os.system\n")
    assert rows(table).num_rows > 0
    with pytest.raises(UnsupportedError, match=r"os\.system.*not loaded"):
        HudiTable.open(table).upsert(rows(table))


@pytest.mark.parametrize("version", [5, 7, 10])
def test_unknown_versions_are_named(version: int, table: Path) -> None:
    file = table / ".hoodie" / "hoodie.properties"
    file.write_bytes(file.read_bytes().replace(b"table.version=9", b"table.version=%d" % version))
    with pytest.raises(UnsupportedError, match=f"version={version} .*6, 8, 9"):
        rows(table)


def test_an_unknown_feature_is_named(table: Path) -> None:
    file = table / ".hoodie" / "hoodie.properties"
    file.write_bytes(file.read_bytes() + b"hoodie.table.time.machine=on\n")
    with pytest.raises(UnsupportedError, match=r"hoodie\.table\.time\.machine"):
        rows(table)


def test_an_unknown_action_is_named(table: Path) -> None:
    (table / ".hoodie" / "timeline" / "20991231000000000.timewarp.requested").write_bytes(b"")
    with pytest.raises(UnsupportedError, match="timewarp"):
        rows(table)


@pytest.mark.parametrize("part", [0.01, 0.5, 0.99])
def test_a_commit_that_was_cut_off_is_named(part: float, table: Path) -> None:
    last = max((table / ".hoodie" / "timeline").glob("*commit"))
    data = last.read_bytes()
    last.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(CorruptTableError, match=last.name.split("_")[0]):
        rows(table)
    with pytest.raises(CorruptTableError):
        HudiTable.open(table).history()


@pytest.mark.parametrize("part", [0.0, 0.3, 0.99])
def test_a_base_file_that_was_cut_off_is_named(part: float, table: Path) -> None:
    path = table / HudiTable.open(table).inspect.files()["path"][0].as_py()
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(CorruptTableError, match=path.name):
        rows(table)


def test_a_path_without_a_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(TableNotFound):
        HudiTable.open(tmp_path)
    with pytest.raises(TableNotFound):
        HudiTable.open(tmp_path / "nothing")
