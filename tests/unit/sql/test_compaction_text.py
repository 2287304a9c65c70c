"""Texts about compactions, as calls of the procedures."""

from __future__ import annotations

import pytest

from pyhudi.sql.statements.compaction_statement import as_call


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("RUN COMPACTION ON t", "CALL run_compaction(op => 'run', table => '`t`')"),
        (
            "run compaction on db.`my t` at 20261121203259123;",
            "CALL run_compaction(op => 'run', table => '`db`.`my t`', timestamp => 20261121203259123)",
        ),
        ("SCHEDULE /* now */ COMPACTION ON '/d/t'", "CALL run_compaction(op => 'schedule', path => '/d/t')"),
        ("SHOW COMPACTION ON t LIMIT 3", "CALL show_compaction(table => '`t`', limit => 3)"),
        ("SHOW COMPACTION ON t AT 3", None),
        ("RUN COMPACTION ON t LIMIT 3", None),
        ("RUN COMPACTION", None),
        ("SHOW COMPACTIONS ON t", None),
        ("RUN COMPACTION ON t AT now", None),
        ("RUN COMPACTION ON 'open", None),
    ],
)
def test_a_text_about_compactions_is_a_call(text: str, call: str | None) -> None:
    assert as_call(text) == call
