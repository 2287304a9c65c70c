"""The procedures of Apache Hudi and those of pyhudi: the same arguments and columns, by what both say in `CALL help`."""

from __future__ import annotations

from pyhudi.sql.call.registry import PROCEDURES

#: Spark's names of types in SQL, by those that Apache Hudi shows.
_TYPES = {"integer": "int", "long": "bigint"}
#: Arguments that pyhudi takes beyond Apache Hudi's, behind them.
_MORE = {
    "upgrade_table": ["path", "options"],
    "downgrade_table": ["path", "options"],
    "hive_sync": ["options"],
    "run_bootstrap": ["ordering_fields"],
}


def signature(text: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Names and types of parameters and of columns that a help text states."""
    parameters, _, columns = text.partition("outputType:")
    return _rows(parameters.partition("parameters:")[2]), _rows(columns)


def _rows(table: str) -> list[tuple[str, str]]:
    """The first two cells of the lines of a table but its heading; names may have blanks."""
    cells = [[cell.strip() for cell in line.strip("\t").split("\t")] for line in table.splitlines() if line.strip()][1:]
    return [(name, _TYPES.get(kind, kind)) for name, kind, *_ in cells]


def test_procedures_have_the_arguments_and_columns_of_apache_hudi(reference):
    listing = reference.sql("CALL help()").column(0)[0].as_py()
    names = [line.split("\t")[1] for line in listing.splitlines() if line.startswith("\t") and "class org" in line]
    assert len(names) > 60
    assert [name for name in names if name not in PROCEDURES] == []
    for name in names:
        parameters, columns = signature(reference.sql(f"CALL help(cmd => '{name}')").column(0)[0].as_py())
        ours = PROCEDURES[name]
        more = [one.name for one in ours.parameters[len(parameters) :]]
        assert (name, [(one.name, one.type) for one in ours.parameters[: len(parameters)]]) == (name, parameters)
        assert (name, more) == (name, _MORE.get(name, []))
        assert (name, [(one.name, one.type) for one in ours.columns]) == (name, columns)
