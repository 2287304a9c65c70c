"""CACHE TABLE: what is cached by name continues with the table, whoever writes it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


def cached_rows(people) -> int:
    """How many sets of rows Spark holds for caches."""
    result: int = people.session.sparkContext._jsc.getPersistentRDDs().size()
    return result


@pytest.fixture
def cached(people):
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
def test_a_cached_table_stays_cached_and_shows_what_was_written(cached, write):
    assert cached("SELECT count(DISTINCT id) FROM people") == [(3,)]
    write(cached)
    assert cached("SELECT id FROM people ORDER BY id") == [(2,), (3,)]
    assert cached.session.catalog.isCached("people")
    assert cached_rows(cached) == 1
    cached("UNCACHE TABLE people")
    assert not cached.session.catalog.isCached("people")
    assert cached_rows(cached) == 0


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_cached_views_follow_with_their_storage_level_and_cached_data_frames_stay(cached):
    cached("CREATE TEMP VIEW names AS SELECT name FROM people")
    cached("CACHE LAZY TABLE names OPTIONS ('storageLevel' 'DISK_ONLY')")
    cached("CACHE TABLE oslo AS SELECT id FROM people WHERE city = 'oslo'")
    frame = cached.session.table("people").filter("id > 1").cache()
    assert frame.count() == 2
    cached("INSERT INTO people VALUES (4, 'dee', 64, 'oslo')")
    assert cached("SELECT count(name) FROM names") == [(4,)]
    assert cached("SELECT count(id) FROM oslo") == [(3,)]
    assert [cached.session.catalog.isCached(name) for name in ("people", "names", "oslo")] == [True] * 3
    assert (cached.session.table("names").storageLevel.useMemory, frame.storageLevel.useMemory) == (False, True)
    assert frame.count() == 2
    assert cached_rows(cached) == 3  # of the views and of the frame; the table itself was not read again
    frame.unpersist()


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_a_cached_table_stays_cached_when_it_is_altered_and_renamed_and_goes_with_drop(cached):
    cached("ALTER TABLE people ADD COLUMNS (mail STRING)")
    assert cached.session.table("people").columns[-2:] == ["mail", "city"]
    assert cached.session.catalog.isCached("people")
    cached("TRUNCATE TABLE people")
    assert cached("SELECT id FROM people") == []
    assert cached.session.catalog.isCached("people")
    cached("REFRESH TABLE people")
    cached("ALTER TABLE people RENAME TO folk")
    assert cached("SELECT id FROM folk") == []
    assert cached.session.catalog.isCached("folk")
    assert cached_rows(cached) == 1
    cached("DROP TABLE folk")
    assert cached_rows(cached) == 0


@pytest.mark.parametrize("people", ["mor"], indirect=True)
def test_a_cached_table_follows_what_the_session_reads_of_tables(cached):
    cached("UPDATE people SET name = 'new' WHERE id = 1")
    cached("SET hoodie.datasource.query.type = read_optimized")
    try:
        assert cached("SELECT name FROM people WHERE id = 1") == [("ann",)]
        cached("UPDATE people SET name = 'newer' WHERE id = 1")
        assert cached("SELECT name FROM people WHERE id = 1") == [("ann",)]
        assert cached.session.catalog.isCached("people")
    finally:
        cached("RESET hoodie.datasource.query.type")
    assert cached("SELECT name FROM people WHERE id = 1") == [("newer",)]
    assert cached.session.catalog.isCached("people")
    assert cached_rows(cached) == 1


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_the_catalogs_functions_cache_a_table_that_continues(people):
    catalog = people.session.catalog
    catalog.cacheTable("people")
    people("INSERT INTO people VALUES (4, 'dee', 64, 'oslo')")
    assert catalog.isCached("people")
    assert people.session.table("people").count() == 4
    catalog.refreshTable("people")
    assert catalog.isCached("people")
    catalog.uncacheTable("people")
    assert not catalog.isCached("people")
