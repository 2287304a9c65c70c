"""Arguments of all procedures, without Spark: null, missing, negative, unknown, one too many; and the list of Apache Hudi's procedures."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, cast

import pytest

from pyhudi.errors import UsageError
from pyhudi.sql.call.call_arguments import Stated, bind
from pyhudi.sql.call.procedure import Procedure
from pyhudi.sql.call.registry import PROCEDURES
from pyhudi.sql.statement.statement import Statement

#: `name(argument type, ...) -> column type, ...` of each procedure of Apache Hudi 1.2.0;
#: `tests/interop/test_procedures.py` asks Apache Hudi itself.
LISTED = Path(__file__).parent / "apache_hudi_procedures.txt"
ALL = list(PROCEDURES.values())
VALUES = {"string": "x", "int": 3, "bigint": 20260101000000000, "boolean": True}


class Folded:
    """Stands for Spark, which evaluates constants: it knows the values that the test has stated."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def run_sql(self, text: str) -> Folded:
        return self

    def collect(self) -> list[dict[str, Any]]:
        return [self.values]


def bound(procedure: Procedure, values: dict[str, Any]) -> dict[str, Any]:
    stated = Stated(procedure.name, tuple((name, "?") for name in values))
    return bind(cast("Statement", Folded(values)), procedure, stated)


def required(procedure: Procedure) -> dict[str, Any]:
    return {one.name: VALUES[one.type] for one in procedure.parameters if one.is_required}


@pytest.mark.parametrize("procedure", ALL, ids=lambda one: one.name)
def test_null_is_as_if_the_argument_was_not_stated(procedure: Procedure) -> None:
    stated = required(procedure)
    optional = {one.name: None for one in procedure.parameters if not one.is_required}
    assert bound(procedure, stated | optional) == bound(procedure, stated)
    for name in stated:
        with pytest.raises(UsageError, match=f"CALL {procedure.name} needs the argument {name}"):
            bound(procedure, stated | {name: None})


@pytest.mark.parametrize("procedure", ALL, ids=lambda one: one.name)
def test_values_of_other_types_and_negative_limits_are_refused_by_name(procedure: Procedure) -> None:
    stated = required(procedure)
    for one in procedure.parameters:
        other: Any = b"bytes" if one.type == "string" else "many"
        with pytest.raises(UsageError, match=f"{one.name} takes a value of type {one.type}"):
            bound(procedure, stated | {one.name: other})
        if one.name == "limit" and one.default == -1:
            assert bound(procedure, stated | {"limit": -1})["limit"] == -1
        elif one.name == "limit":
            with pytest.raises(UsageError, match=f"CALL {procedure.name}: limit is -1; it takes 0 or more rows"):
                bound(procedure, stated | {"limit": -1})


@pytest.mark.parametrize("procedure", ALL, ids=lambda one: one.name)
def test_unknown_and_superfluous_arguments_are_refused_with_the_usage(procedure: Procedure) -> None:
    with pytest.raises(UsageError, match=f"has no argument tabel.* CALL {procedure.name}"):
        bound(procedure, {"tabel": "x"})
    by_position = Stated(procedure.name, tuple((None, "?") for _ in range(len(procedure.parameters) + 1)))
    with pytest.raises(UsageError, match=f"takes {len(procedure.parameters)} argument"):
        bind(cast("Statement", Folded({})), procedure, by_position)
    first = procedure.parameters[0].name
    with pytest.raises(UsageError, match=f"states {first} twice"):
        bind(cast("Statement", Folded({first: "x"})), procedure, Stated(procedure.name, ((None, "?"), (first, "?"))))


def test_each_procedure_of_apache_hudi_is_served_with_its_arguments_and_columns() -> None:
    listed = [line for line in LISTED.read_text().splitlines() if line]
    assert len(listed) > 70
    for line in listed:
        name, _, rest = line.partition("(")
        arguments, _, columns = rest.partition(") -> ")
        ours = PROCEDURES[name]
        names = [argument for argument in arguments.split(", ") if argument]
        assert (name, [f"{one.name} {one.type}" for one in ours.parameters[: len(names)]]) == (name, names)
        assert (name, ", ".join(f"{one.name} {one.type}" for one in ours.columns)) == (name, columns)


#: Arguments that code reads which all procedures share.
SHARED = {"table", "path", "options", "filter", "limit"}


@pytest.mark.parametrize("procedure", ALL, ids=lambda one: one.name)
def test_every_argument_is_read(procedure: Procedure) -> None:
    source = Path(inspect.getsourcefile(procedure.run) or "").read_text()
    read = set(re.findall(r'"(\w+)"', re.sub(r'Parameter\("\w+"', "", source)))
    assert {one.name for one in procedure.parameters} - read <= SHARED
