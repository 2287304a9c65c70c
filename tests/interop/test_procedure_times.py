"""Procedures that take begin and end times give the rows that those of Apache Hudi give, on the same tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.interop.kinds import Kind, Model
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips

_ARCHIVED = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.automatic": "false"}


class Both:
    """The two engines on one table, which each of their catalogs names `name`."""

    def __init__(self, spark: SparkSession, reference: ReferenceHudi, name: str, path: Path) -> None:
        self._spark, self._reference, self._name = spark, reference, name
        for run in (self._ours, reference.sql):
            run(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")

    def _ours(self, text: str) -> pa.Table:
        return self._spark.sql(text).toArrow()

    def call(self, procedure: str, arguments: str, read: str = "") -> tuple[list[str], list[str]]:
        """The first column of what the procedure, or then `read`, gives on either engine."""
        answers = []
        for run in (self._ours, self._reference.sql):
            rows = run(f"CALL {procedure}(table => '{self._name}', {arguments})")
            rows = run(read) if read else rows
            answers.append([str(value) for value in rows.column(0).to_pylist()] if rows.num_columns else [])
        ours, theirs = answers
        return ours, theirs


@pytest.mark.parametrize(
    ("version", "table_type"), [(6, "COPY_ON_WRITE"), (6, "MERGE_ON_READ"), (8, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")]
)
def test_begin_and_end_mean_what_they_mean_to_apache_hudi(
    version: int, table_type: str, spark: SparkSession, reference: ReferenceHudi, tmp_path: Path
) -> None:
    path, name = tmp_path / "t", f"times_{version}_{table_type[:5].lower()}"
    kind = Kind(name, version=version, order_by=("amount",), table_type=table_type)
    kind.create(path)
    model = Model(kind.order_by)
    for number in range(3):
        HudiTable.open(path).upsert(model.upsert(trips(number, number + 3, amount=number)), options={"hoodie.clean.automatic": "false"})
    history = HudiTable.open(path).history().to_pylist()
    first, second, last = ([row["requested"] if version == 6 else row["completed"]][0] for row in history)
    both = Both(spark, reference, name, path)
    sizes = []
    for number, (begin, end) in enumerate([("0", first), (first, second), (first, last), (last, "99991231235959999")]):
        bounds = f"query_type => 'incremental', begin_instance_time => '{begin}', end_instance_time => '{end}'"
        ours, theirs = both.call("copy_to_temp_view", f"view_name => 'v{number}', replace => true, {bounds}", f"SELECT id FROM v{number}")
        assert sorted(ours) == sorted(theirs)
        sizes.append(len(ours))
    assert sizes == [3, 3, 4, 0]
    bounds = f"query_type => 'incremental', begin_instance_time => '{first}', end_instance_time => '{last}'"
    ours, theirs = both.call("copy_to_table", f"new_table => 'copy_{name}', {bounds}", f"SELECT id FROM copy_{name}")
    assert sorted(ours) == sorted(theirs)
    assert len(ours) == 4
    ours, theirs = both.call("show_timeline", f"startTime => '{history[0]['requested']}', endTime => '{history[1]['requested']}'")
    assert ours == theirs
    assert len(ours) == 2


@pytest.mark.parametrize("version", [6, 9])
def test_spans_of_archived_commits(version: int, spark: SparkSession, reference: ReferenceHudi, tmp_path: Path) -> None:
    path, name = tmp_path / "t", f"archived_span_{version}"
    kind = Kind(name, version=version, order_by=("amount",))
    kind.create(path)
    model = Model(kind.order_by)
    settings = {**_ARCHIVED, "hoodie.metadata.compact.max.delta.commits": "1"}
    for number in range(7):
        HudiTable.open(path).upsert(model.upsert(trips(number, number + 3, amount=number)), options=settings)
    times = [row["requested"] for row in HudiTable.open(path).history().to_pylist()]
    both = Both(spark, reference, name, path)
    for begin, end in (("2000", "3000"), (times[0], times[1]), (times[0], times[0]), ("2000", times[1])):
        for procedure in ("show_archived_commits", "show_archived_commits_metadata"):
            ours, theirs = both.call(procedure, f"limit => 100, start_ts => '{begin}', end_ts => '{end}'")
            assert ours == theirs
