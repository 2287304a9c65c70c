"""The file of index definitions is one inside the table, or the table's properties are damaged."""

from __future__ import annotations

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.index_definitions import PATH, PATH_PROPERTY, load_definitions
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties
from tests.unit.table.tables import make_table, ride


@pytest.mark.parametrize("path", ["/hoodie/.index_defs/index.json", ".hoodie//.index_defs/index.json", ".hoodie/../x", PATH[:-1]])
def test_path_that_is_no_file_of_the_table_is_damage_that_is_named(path: str) -> None:
    storage = MemoryStorage()
    make_table(storage).upsert([ride(1)])
    properties = dict(load_properties(storage))
    assert properties[PATH_PROPERTY] == PATH
    named = r"index\.jso, which its properties name" if path == PATH[:-1] else rf"{PATH_PROPERTY}={path} in '\.hoodie/hoodie\.properties'"
    with pytest.raises(CorruptTableError, match=named):
        load_definitions(storage, TableConfig(properties | {PATH_PROPERTY: path}))
