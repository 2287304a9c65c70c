"""What users may hand in, and what becomes of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from pyhudi.errors import SchemaError, UsageError
from pyhudi.write.input.incoming_data import to_table

ROWS = pa.table({"id": [1, 2], "name": ["a", None]})


class Stream:
    """Knows nothing but the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema=None):
        return ROWS.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        ROWS.to_batches()[0],
        ROWS.to_reader(),
        ROWS.to_pandas(),
        pl.from_arrow(ROWS),
        ROWS.to_pylist(),
        Stream(),
        [{"id": 1, "name": "a"}, {"id": 2}],
        pl.DataFrame(ROWS).lazy(),
        ROWS.to_pydict(),
        {"id": np.array([1, 2]), "name": pl.Series(["a", None])},
        ROWS.to_batches(max_chunksize=1),
        [pl.from_arrow(ROWS.slice(0, 1)), pl.from_arrow(ROWS.slice(1))],
        ds.dataset(ROWS),
        ds.dataset(ROWS).scanner(),
    ],
    ids=str.split("table batch reader pandas polars dicts stream gaps lazy columns arrays batches frames dataset scanner"),
)
def test_every_kind_of_data_gives_the_same_rows(data) -> None:
    assert to_table(data).to_pylist() == ROWS.to_pylist()


@pytest.mark.parametrize("items", [ROWS.to_batches(max_chunksize=1), [ROWS.slice(0, 1), ROWS.slice(1)], ROWS.to_pylist()])
def test_generators_are_read_to_their_end(items) -> None:
    assert to_table(item for item in items).to_pylist() == ROWS.to_pylist()
    assert to_table(iter(items)).to_pylist() == ROWS.to_pylist()


def test_batches_with_other_columns_are_refused() -> None:
    with pytest.raises(SchemaError, match="cannot be taken as columns"):
        to_table([ROWS, pa.table({"other": [1]})])


def test_an_error_of_a_generator_is_its_own() -> None:
    def rows():
        yield ROWS
        raise RuntimeError("the source failed")

    with pytest.raises(RuntimeError, match="the source failed"):
        to_table(rows())


def test_open_files_are_refused_unread(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    with (tmp_path / "a.csv").open() as file:
        with pytest.raises(UsageError, match="give an Arrow table"):
            to_table(file)
        assert file.read() == "id\n1\n"


def test_rows_of_a_spark_connect_frame_are_fetched() -> None:
    class Remote:
        def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
            return pa.table({"a": [1]})

    Remote.__module__ = "pyspark.sql.connect.dataframe"
    assert to_table(Remote()) == pa.table({"a": [1]})


def test_arrow_table_is_handed_on_as_it_is() -> None:
    assert to_table(ROWS) is ROWS


def test_index_of_a_pandas_frame_is_no_column() -> None:
    assert to_table(pd.DataFrame({"a": [1]}, index=["x"])).column_names == ["a"]


def test_columns_of_all_dicts_are_kept_not_only_those_of_the_first() -> None:
    assert to_table([{"a": 1}, {"b": 2}]).to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_dicts_in_a_column_of_maps_become_maps() -> None:
    schema = pa.schema({"m": pa.map_(pa.string(), pa.int64())})
    table = to_table([{"m": {"a": 1, "b": 2}}, {"m": None}, {"m": {}}], lambda: schema)
    assert table.schema.field("m").type == pa.map_(pa.string(), pa.int64())
    assert table["m"].to_pylist() == [[("a", 1), ("b", 2)], None, []]


def test_numbers_in_dicts_take_the_width_of_their_column() -> None:
    schema = pa.schema({"i": pa.int32(), "f": pa.float32(), "s": pa.struct({"n": pa.int16()}), "l": pa.list_(pa.int32())})
    assert to_table([{"i": 1, "f": 0.5, "s": {"n": 2}, "l": [3]}], lambda: schema).schema == schema


def test_integers_in_dicts_that_their_column_does_not_hold_are_not_cut() -> None:
    table = to_table([{"i": 2**40}], lambda: pa.schema({"i": pa.int32()}))
    assert table.to_pylist() == [{"i": 2**40}]


def test_reals_in_dicts_are_not_cut_to_the_integers_of_their_column() -> None:
    assert to_table([{"i": 1.5}], lambda: pa.schema({"i": pa.int32()})).schema.field("i").type == pa.float64()
    assert to_table([{"i": 1.0}], lambda: pa.schema({"i": pa.int32()})).to_pylist() == [{"i": 1}]


def test_values_without_a_common_type_are_refused_with_their_column() -> None:
    with pytest.raises(SchemaError, match="'a'"):
        to_table([{"a": 1}, {"a": "x"}])


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (b"bytes", "of type builtins.bytes; give an Arrow table"),
        (5, "of type builtins.int; give an Arrow table"),
        (None, "of type builtins.NoneType; give an Arrow table"),
        ([1, 2], "a list of int; a list of rows holds dicts"),
    ],
)
def test_other_objects_are_refused_with_their_type(data, advice: str) -> None:
    with pytest.raises(UsageError, match=advice):
        to_table(data)


def test_a_dict_of_values_is_one_row() -> None:
    assert to_table({"id": 1, "tags": ["x", "y"]}).to_pylist() == [{"id": 1, "tags": ["x", "y"]}]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(SchemaError, match=r"different lengths: \{'a': 2, 'b': 1\}"):
        to_table({"a": [1, 2], "b": [1]})


def test_parquet_files_are_read_by_their_paths(tmp_path, monkeypatch) -> None:
    for number in (1, 2):
        pq.write_table(ROWS, tmp_path / f"{number}.parquet")
    (tmp_path / "readme.txt").write_text("none")
    monkeypatch.chdir(tmp_path)
    one, both = ROWS.to_pylist(), ROWS.to_pylist() * 2
    assert to_table(tmp_path / "1.parquet").to_pylist() == one
    assert to_table("1.parquet").to_pylist() == one
    assert to_table(f"file://{tmp_path}/1.parquet").to_pylist() == one
    assert to_table(str(tmp_path)).to_pylist() == both
    assert to_table([tmp_path / "1.parquet", "2.parquet"]).to_pylist() == both


def test_paths_that_lead_to_no_rows_are_refused(tmp_path) -> None:
    (tmp_path / "no.parquet").write_text("plain text")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.txt").write_text("")
    (tmp_path / "table" / ".hoodie").mkdir(parents=True)
    for path, match in (
        ("missing.parquet", "There is no file"),
        ("missing", "There is no file"),
        ("no.parquet", "is no Parquet file"),
        ("empty", "holds no file that ends in .parquet"),
        ("table", "is a Hudi table: give pyhudi.HudiTable.open"),
    ):
        with pytest.raises(UsageError, match=match):
            to_table(str(tmp_path / path))
    with pytest.raises(UsageError):
        to_table("")


@pytest.mark.parametrize("kind", [pl.Object, pl.Int128])
@pytest.mark.parametrize("lazy", [False, True])
def test_polars_types_that_arrow_lacks_are_named(kind: pl.DataType, lazy: bool) -> None:
    frame = pl.DataFrame({"id": [1], "v": pl.Series([1], dtype=kind)})
    with pytest.raises(SchemaError, match=f"Column 'v' has the polars type {kind}"):
        to_table(frame.lazy() if lazy else frame)


def test_list_views_are_taken_as_lists() -> None:
    rows = pa.table({"id": [1, 2], "v": pa.array([None, [1]], pa.list_view(pa.int64()))})
    taken = to_table(rows)
    assert taken.schema.field("v").type == pa.list_(pa.int64())
    assert taken.to_pylist() == [{"id": 1, "v": None}, {"id": 2, "v": [1]}]


def test_links_to_files_and_folders_are_followed(tmp_path) -> None:
    (tmp_path / "rows").mkdir()
    pq.write_table(ROWS, tmp_path / "rows/a.parquet")
    (tmp_path / "linked.parquet").symlink_to("rows/a.parquet")
    (tmp_path / "linked").symlink_to("rows")
    (tmp_path / "of links").mkdir()
    (tmp_path / "of links/a.parquet").symlink_to(tmp_path / "linked.parquet")
    pq.write_table(ROWS, tmp_path / "of links/b.parquet")
    assert to_table(tmp_path / "linked.parquet") == to_table(tmp_path / "linked") == ROWS
    assert to_table(tmp_path / "of links") == pa.concat_tables([ROWS, ROWS])
    (tmp_path / "of links/c.parquet").symlink_to("nowhere")
    with pytest.raises(UsageError, match=r"There is no file '.*of links/c\.parquet'"):
        to_table(tmp_path / "of links")
