"""The walk of a newcomer: purchases created, filled, changed, read, looked at (walks W-A and W-C.3)."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def purchase(sql):
    sql("""
        CREATE TABLE purchase (
          purchase_id STRING, customer_id BIGINT, amount FLOAT, status STRING, purchase_date STRING
        )
        USING HUDI TBLPROPERTIES (primaryKey = 'purchase_id') PARTITIONED BY (purchase_date)
    """)
    sql("""
        INSERT INTO purchase VALUES
          ('purchase-1', 101, 21.9, 'COMPLETED', '2026-11-30'), ('purchase-2', 101, 123.09, 'PENDING', '2026-11-30'),
          ('purchase-3', 102, 390.15, 'PENDING', '2026-12-01'), ('purchase-4', 103, 41.5, 'COMPLETED', '2026-12-01'),
          ('purchase-5', 101, 98.3, 'COMPLETED', '2026-12-01')
    """)
    return sql


@pytest.fixture
def changed(purchase):
    purchase("UPDATE purchase SET status = 'COMPLETED' WHERE purchase_id = 'purchase-2'")
    purchase("DELETE FROM purchase WHERE purchase_id = 'purchase-3'")
    return purchase


def test_after_create_only_the_metadata_folder_stands(sql):
    sql("CREATE TABLE purchase (purchase_id STRING, d STRING) USING HUDI TBLPROPERTIES (primaryKey = 'purchase_id') PARTITIONED BY (d)")
    assert [path.name for path in (sql.folder / "purchase").iterdir()] == [".hoodie"]


def test_after_update_and_delete_four_purchases_are_left(changed):
    assert changed("SELECT purchase_id, status FROM purchase ORDER BY purchase_id") == [
        ("purchase-1", "COMPLETED"),
        ("purchase-2", "COMPLETED"),
        ("purchase-4", "COMPLETED"),
        ("purchase-5", "COMPLETED"),
    ]


def test_each_statement_is_one_commit(changed):
    assert changed.commits("purchase") == 3


def test_each_partition_holds_two_slices_of_one_file_group(changed):
    slices = changed.table("purchase").inspect.slices().to_pylist()
    groups = {(row["partition_path"], row["file_id"]) for row in slices}
    assert len(slices) == 4
    assert sorted(path for path, _ in groups) == ["purchase_date=2026-11-30", "purchase_date=2026-12-01"]


def test_a_filter_on_the_partition_reads_its_folder_only(changed):
    files = changed.session.sql("SELECT * FROM purchase WHERE purchase_date = '2026-12-01'").select("_metadata.file_path").collect()
    assert {row[0].split("/")[-2] for row in files} == {"purchase_date=2026-12-01"}


def test_update_by_other_columns_changes_the_matching_purchase_only(changed):
    counts = changed.counts("UPDATE purchase SET status = 'PENDING' WHERE customer_id = 101 AND amount > 100.0")
    assert counts == {"num_affected_rows": 1, "num_updated_rows": 1}
    assert changed("SELECT purchase_id, amount FROM purchase WHERE status = 'PENDING'") == [("purchase-2", pytest.approx(123.09))]


def test_delete_by_status_and_date_range_removes_the_matching_purchase_only(changed):
    changed("UPDATE purchase SET status = 'PENDING' WHERE customer_id = 101 AND amount > 100.0")
    counts = changed.counts("""
        DELETE FROM purchase WHERE status = 'PENDING' AND purchase_date BETWEEN '2026-11-01' AND '2026-11-30'
    """)
    assert counts == {"num_affected_rows": 1, "num_deleted_rows": 1}
    assert [row[0] for row in changed("SELECT purchase_id FROM purchase ORDER BY 1")] == [
        "purchase-1",
        "purchase-4",
        "purchase-5",
    ]


def test_create_as_select_summarises_the_purchases(changed):
    changed("""
        CREATE TABLE purchase_summary USING HUDI TBLPROPERTIES (primaryKey = 'customer_id,purchase_date')
        AS SELECT customer_id, purchase_date, ROUND(SUM(amount), 2) AS total, COUNT(*) AS purchases
        FROM purchase GROUP BY customer_id, purchase_date
    """)
    assert changed("SELECT customer_id, purchase_date, total, purchases FROM purchase_summary ORDER BY 1, 2") == [
        (101, "2026-11-30", pytest.approx(144.99), 2),
        (101, "2026-12-01", pytest.approx(98.3), 1),
        (103, "2026-12-01", pytest.approx(41.5), 1),
    ]


def test_rides_without_a_primary_key_get_keys_of_their_own(sql):
    sql("""
        CREATE TABLE rides (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING)
        USING HUDI PARTITIONED BY (city)
    """)
    sql(
        "INSERT INTO rides VALUES (1, 'a', 'r', 'd', 1.5, 'chennai'), (2, 'b', 'r', 'd', 2.5, 'sao_paulo'), (1, 'a',"
        " 'r', 'd', 1.5, 'chennai')"
    )
    assert sql("SELECT COUNT(*), COUNT(DISTINCT _hoodie_record_key) FROM rides") == [(3, 3)]
    assert sql.counts("UPDATE rides SET fare = 3 WHERE uuid = 'b'")["num_updated_rows"] == 1
    assert sql.counts("DELETE FROM rides WHERE city = 'chennai'")["num_deleted_rows"] == 2
