"""Some thousand mutated log files in each run of the tests. More by hand: `python -m scripts.fuzz_log`."""

from __future__ import annotations

import pytest

from pyhudi.codec.log import log_content
from tests.unit.codec.log_fuzz import fuzz, seeds


def test_mutated_log_files_are_read_or_refused_in_pyhudi_s_own_words() -> None:
    outcome = fuzz(20_000, seed=1, stop_s=8)
    assert [problem for problem, _ in outcome.broken] == []
    # All three ends are reached, or the mutations are too mild or too wild to find anything.
    assert min(outcome.kinds[kind] for kind in ("whole", "damaged", "CorruptTableError", "UnsupportedError")) > 100


def test_fuzzing_finds_a_length_that_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_content, "CorruptTableError", ValueError)
    assert any("ValueError" in problem for problem, _ in fuzz(3_000, seed=1).broken)


def test_seeds_have_every_kind_of_block() -> None:
    assert len(seeds()) > 60
