"""How often a statement reads a table's properties and lists its timeline."""

from __future__ import annotations

from collections import Counter

import pytest

from pyhudi.storage.local_storage import LocalStorage

pytestmark = pytest.mark.spark

PROPERTIES, TIMELINE = ".hoodie/hoodie.properties", ".hoodie/timeline"


@pytest.fixture
def calls(monkeypatch):
    """Counts what is read and listed of tables."""
    counts = Counter()  # type: ignore[var-annotated]

    def counted(call):
        def counting(self, path, *args, **kwargs):
            counts[path] += 1
            return call(self, path, *args, **kwargs)

        return counting

    monkeypatch.setattr(LocalStorage, "read", counted(LocalStorage.read))
    monkeypatch.setattr(LocalStorage, "list", counted(LocalStorage.list))
    monkeypatch.setattr(LocalStorage, "file_names", counted(LocalStorage.file_names))
    return counts


@pytest.mark.parametrize(
    ("statement", "properties", "timeline"),
    [
        # The timeline once more for each scan, when its files are listed.
        ("SELECT * FROM people WHERE id = 1", 1, 2),
        ("SELECT * FROM people a JOIN people b USING (id)", 1, 3),
        # Opened, and again under the lock; the timeline once more when the commit is checked against others.
        ("INSERT INTO people VALUES (9, 'x', 1, 'oslo')", 2, 3),
        ("UPDATE people SET name = 'x' WHERE id = 1", 2, 4),
        ("DELETE FROM people WHERE id = 1", 2, 4),
        ("MERGE INTO people t USING (SELECT 1 AS id, 'x' AS name) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name", 2, 5),
    ],
)
@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_a_statement_opens_its_table_once(people, calls, statement, properties, timeline):
    people("SELECT count(*) FROM people")
    calls.clear()
    people(statement)
    assert (calls[PROPERTIES], calls[TIMELINE]) == (properties, timeline)


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_changes_find_files_as_the_table_was_found_to_hold_them(people, calls):
    people("SELECT * FROM people")
    calls.clear()
    assert len(people("SELECT * FROM hudi_table_changes('people', 'latest_state', '2000-01-01')")) == 3
    assert [path for path in calls if path.startswith(".hoodie/metadata/files")] == []
