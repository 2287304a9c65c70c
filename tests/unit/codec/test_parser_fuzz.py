"""Each parser gives a value or a typed error for mutated inputs."""

from __future__ import annotations

import pytest

from tests.unit.codec.parser_fuzz import PARSERS, Parser, fuzz


@pytest.mark.parametrize("name", PARSERS)
def test_mutated_inputs_give_values_or_typed_errors(name: str) -> None:
    outcome = fuzz(PARSERS[name], 300, seed=1)
    assert outcome.inputs == 300
    assert outcome.broken == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSERS)
def test_many_mutated_inputs_give_values_or_typed_errors(name: str) -> None:
    assert fuzz(PARSERS[name], 100_000, seed=2).broken == []


def test_other_errors_are_noticed() -> None:
    outcome = fuzz(Parser(lambda data: data.decode("ascii"), (b"abc",)), 300, seed=1)
    assert any("UnicodeDecodeError" in problem for problem, _ in outcome.broken)
