"""What a notebook and a prompt show of tables, configurations and results."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pyarrow as pa

import pyhudi
from pyhudi import HudiTable
from pyhudi.spec.notebook_html import properties_html
from pyhudi.storage.memory_storage import MemoryStorage

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


def create() -> HudiTable:
    return HudiTable.create(MemoryStorage().uri, SCHEMA, name="trips", keys=["id"])


def text_parts(html: str) -> list[str]:
    """The text of the elements of some HTML, which must be well formed."""
    return [element.text for element in ET.fromstring(html).iter() if element.text]


def test_a_table_shows_what_it_is_and_its_columns() -> None:
    parts = text_parts(create()._repr_html_())
    assert parts[0] == "Hudi table trips"
    assert parts[parts.index("record key") + 1] == "id"
    assert parts[-1] == "id (int64), city (string)"
    assert "partitioned by" not in parts


def test_a_result_shows_what_was_written() -> None:
    result = create().insert({"id": 1, "city": "oslo"})
    parts = text_parts(result._repr_html_())
    assert parts[0] == str(result)
    assert parts[parts.index("inserted") + 1] == "1"
    assert "index" not in parts
    assert repr(result) == f"<WriteResult: {result}>"


def test_results_of_services_are_one_line_at_the_prompt_and_a_table_in_a_notebook() -> None:
    table = create()
    table.insert({"id": 1, "city": "oslo"})
    results = (
        table.savepoint(),
        table.services.index("record_index", "id"),
        table.services.archive(dry_run=True),
        *table.services.clean(options={"hoodie.cleaner.policy": "KEEP_LATEST_FILE_VERSIONS"}, dry_run=True),
        *table.services.cluster(dry_run=True),
        table.services.restore(table.history()["requested"][0].as_py(), dry_run=True),
        table.services.change_type("MERGE_ON_READ", dry_run=True),
        table.services.downgrade("8", dry_run=True),
    )
    assert len({type(result) for result in results}) >= 6
    for result in results:
        assert repr(result) == f"<{type(result).__name__}: {result}>"
        assert text_parts(result._repr_html_())[0] == str(result)
        assert getattr(pyhudi, type(result).__name__) is type(result)


def test_long_values_are_cut_in_notebooks() -> None:
    assert len(text_parts(properties_html("t", {"files": ["f" * 10] * 100, "seconds": 0.12345}))[2]) == 300


def test_a_configuration_is_one_line_at_the_prompt_and_all_properties_in_a_notebook() -> None:
    config = create().config
    assert repr(config) == "TableConfig(name='trips', table_type='COPY_ON_WRITE', version=9, keys=('id',))"
    assert "hoodie.table.recordkey.fields" in text_parts(config._repr_html_())


def test_markup_in_values_is_text() -> None:
    html = properties_html("<script>", {"<i>": "<script>alert('x')</script> & \"y\""})
    assert "<script>" not in html
    assert text_parts(html) == ["<script>", "<i>", "<script>alert('x')</script> & \"y\""]
