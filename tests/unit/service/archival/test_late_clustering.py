"""A clustering that began before a commit and completed after it: its replaced files outlive the next clean, and so must its instant."""

from __future__ import annotations

from tests.unit.table.tables import make_table, ride, rows_of

QUIET = {"hoodie.metadata.enable": "false", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
SMALL = {"hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "4", "hoodie.clean.commits.retained": "2"}


def test_archival_does_not_bring_rows_back_that_a_clustering_replaced() -> None:
    table = make_table(partition_by=("city",))
    for value in range(2):
        table.upsert([ride(20, "bern", value)], QUIET)  # something to clean
    for number in range(4):
        table.insert([ride(number)], QUIET | {"hoodie.parquet.small.file.limit": "0"})
    table.services.cluster(mode="schedule", options=QUIET | {"hoodie.clustering.plan.strategy.partition.selected": "oslo"})
    table.upsert([ride(10, "rome")], QUIET)
    table.services.cluster(mode="execute", options=QUIET)
    table.upsert([ride(11, "rome")], QUIET)
    assert table.services.clean(options=QUIET | SMALL)
    for number in (12, 13, 14):
        table.upsert([ride(number, "rome")], QUIET)
    expected = rows_of(table)
    assert [row["id"] for row in expected] == [*range(4), *range(10, 15), 20]
    table.services.archive(options=QUIET | SMALL)
    assert rows_of(table) == expected
    table.services.clean(options=QUIET | SMALL)
    assert table.services.archive(options=QUIET | SMALL).instants
    assert rows_of(table) == expected
