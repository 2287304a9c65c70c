"""CACHE TABLE: what is cached by name continues with the table, whoever writes it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


def rows_kept(people) -> int:
    """How many sets of rows Spark holds for caches."""
    return people.session.sparkContext._jsc.getPersistentRDDs().size()


@pytest.fixture
def kept(people):
    """A table that is cached and read; nothing else is cached, and nothing is left behind."""
    people.session.catalog.clearCache()
    people("CACHE TABLE people")
    yield people
    people.session.catalog.clearCache()


def _by_table_api(people):
    people.table("people").delete(where="id = 1")


def _by_another_session(people):
    other = people.session.newSession()
    other.sql(f"DELETE FROM {people.database}.people WHERE id = 1")


def _by_path(people):
    removed = people.session.sql("SELECT * FROM people WHERE id = 1")
    options = {"hoodie.datasource.write.operation": "delete"}
    removed.write.format("hudi").options(**options).mode("append").save(str(people.folder / "people"))


@pytest.mark.parametrize("write", [lambda people: people("DELETE FROM people WHERE id = 1"), _by_table_api, _by_another_session, _by_path])
def test_a_cached_table_stays_cached_and_shows_what_was_written(kept, write):
    assert kept("SELECT count(DISTINCT id) FROM people") == [(3,)]
    write(kept)
    assert kept("SELECT id FROM people ORDER BY id") == [(2,), (3,)]
    assert kept.session.catalog.isCached("people")
    assert rows_kept(kept) == 1
    kept("UNCACHE TABLE people")
    assert not kept.session.catalog.isCached("people")
    assert rows_kept(kept) == 0


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_cached_views_follow_with_their_storage_level_and_cached_data_frames_stay(kept):
    kept("CREATE TEMP VIEW names AS SELECT name FROM people")
    kept("CACHE LAZY TABLE names OPTIONS ('storageLevel' 'DISK_ONLY')")
    kept("CACHE TABLE oslo AS SELECT id FROM people WHERE city = 'oslo'")
    frame = kept.session.table("people").filter("id > 1").cache()
    assert frame.count() == 2
    kept("INSERT INTO people VALUES (4, 'dee', 64, 'oslo')")
    assert kept("SELECT count(name) FROM names") == [(4,)]
    assert kept("SELECT count(id) FROM oslo") == [(3,)]
    assert [kept.session.catalog.isCached(name) for name in ("people", "names", "oslo")] == [True] * 3
    assert (kept.session.table("names").storageLevel.useMemory, frame.storageLevel.useMemory) == (False, True)
    assert frame.count() == 2
    assert rows_kept(kept) == 3  # of the views and of the frame; the table itself was not read again
    frame.unpersist()


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_a_cached_table_stays_cached_when_it_is_altered_and_renamed_and_goes_with_drop(kept):
    kept("ALTER TABLE people ADD COLUMNS (mail STRING)")
    assert kept.session.table("people").columns[-2:] == ["mail", "city"]
    assert kept.session.catalog.isCached("people")
    kept("TRUNCATE TABLE people")
    assert kept("SELECT id FROM people") == []
    assert kept.session.catalog.isCached("people")
    kept("REFRESH TABLE people")
    kept("ALTER TABLE people RENAME TO folk")
    assert kept("SELECT id FROM folk") == []
    assert kept.session.catalog.isCached("folk")
    assert rows_kept(kept) == 1
    kept("DROP TABLE folk")
    assert rows_kept(kept) == 0


@pytest.mark.parametrize("people", ["mor"], indirect=True)
def test_a_cached_table_follows_what_the_session_reads_of_tables(kept):
    kept("UPDATE people SET name = 'new' WHERE id = 1")
    kept("SET hoodie.datasource.query.type = read_optimized")
    try:
        assert kept("SELECT name FROM people WHERE id = 1") == [("ann",)]
        kept("UPDATE people SET name = 'newer' WHERE id = 1")
        assert kept("SELECT name FROM people WHERE id = 1") == [("ann",)]
        assert kept.session.catalog.isCached("people")
    finally:
        kept("RESET hoodie.datasource.query.type")
    assert kept("SELECT name FROM people WHERE id = 1") == [("newer",)]
    assert kept.session.catalog.isCached("people")
    assert rows_kept(kept) == 1


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_the_catalogs_functions_cache_a_table_that_goes_on(people):
    catalog = people.session.catalog
    catalog.cacheTable("people")
    people("INSERT INTO people VALUES (4, 'dee', 64, 'oslo')")
    assert catalog.isCached("people")
    assert people.session.table("people").count() == 4
    catalog.refreshTable("people")
    assert catalog.isCached("people")
    catalog.uncacheTable("people")
    assert not catalog.isCached("people")
