"""Table names are read from a plan as Spark prints it."""

from __future__ import annotations

import pytest

from pyhudi.spark.catalog.relations import names_in


@pytest.mark.parametrize(
    ("printed", "names"),
    [
        ("'Project [*]\n+- 'UnresolvedRelation [t], [], false", [("t",)]),
        ("'UnresolvedRelation [db, t], [__required_write_privileges__=INSERT], false", [("db", "t")]),
        (
            "'DropTable true, true\n+- 'UnresolvedIdentifier [spark_catalog, db, t], true",
            [("spark_catalog", "db", "t")],
        ),
        ("+- 'UnresolvedTableOrView [t], DESCRIBE TABLE, true", [("t",)]),
        ("'UnresolvedRelation [hudi, /data/a, b], [], false", [("hudi", "/data/a, b")]),
        ("'UnresolvedRelation [hudi, db, t], [], false", [("hudi", "db", "t")]),
        ("CTE [c]\n:  +- 'UnresolvedRelation [a], [], false\n+- 'UnresolvedRelation [c], [], false", [("a",), ("c",)]),
        ("'RelationTimeTravel 'UnresolvedRelation [t], [], false, 2026", [("t",)]),
        ("'Project [*]\n+- OneRowRelation", []),
    ],
)
def test_every_name_is_found_with_its_parts(printed, names):
    assert list(names_in(printed)) == names
