"""Where in a statement an error lies."""

from __future__ import annotations

import pytest

from pyhudi.errors import HudiError, SchemaError, with_subject
from pyhudi.sql.text.error_position import annotate, excerpt


@pytest.mark.parametrize(
    ("text", "error", "marked"),
    [
        (
            "UPDATE t SET x = 1",
            with_subject(SchemaError("no column x"), "x"),
            "== SQL (line 1, position 14) ==\nUPDATE t SET x = 1\n             ^",
        ),
        ("SELECT\n  'a b'\nFROM t", with_subject(SchemaError("!"), "a b"), "== SQL (line 2, position 3) ==\n  'a b'\n  ^^^^^"),
        ("SET T.`Ab` = 1", with_subject(SchemaError("!"), "t.ab"), "== SQL (line 1, position 5) ==\nSET T.`Ab` = 1\n    ^^^^^^"),
        ("x x -- x\nx", with_subject(SchemaError("!"), "x", 2), "== SQL (line 2, position 1) ==\nx\n^"),
        ("CALL p(a => 'zz')", SchemaError("'zz' is no table"), "== SQL (line 1, position 13) ==\nCALL p(a => 'zz')\n            ^^^^"),
    ],
)
def test_the_place_of_what_an_error_names_is_shown_below_its_message(text: str, error: HudiError, marked: str) -> None:
    message = str(error)
    annotate(error, text)
    assert str(error) == f"{message}\n{marked}"
    annotate(error, text)
    assert str(error) == f"{message}\n{marked}"


@pytest.mark.parametrize(
    "error", [SchemaError("no column x"), with_subject(SchemaError("!"), "elsewhere"), SchemaError("the key '1' is null")]
)
def test_an_error_about_nothing_in_the_text_stays_as_it_is(error: HudiError) -> None:
    message = str(error)
    annotate(error, "UPDATE t SET x = 1 WHERE 'open")
    assert str(error) == message


def test_a_place_of_several_lines_is_marked_on_each() -> None:
    assert excerpt("ab\ncd\nef", 1, 4) == "== SQL (line 1, position 2) ==\nab\n ^\ncd\n^"
