"""Every kind of file x flip, cut, empty, gone, doubled x questions: right rows or an error that names the file, else it is counted.

What nobody can notice is that a completed instant's file is missing: the write looks like one that is still going on. Bits in
the footers of base files and of archive files, and in values that instants state, have no checksum in Hudi's format. The shares are
in docs/reliability.md.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.damage.reference import NAMED, RIGHT, TYPED, WRONG, Case, cases, shares, verdict
from tests.damage.tables import TABLES, Sound, made

#: Percent of the mutations of a kind that may go unnoticed; of the others none may.
#: Old files of an archive of version 6 may be deleted, which the log says: its only one may be missing.
MOST_UNNOTICED = {"instant": 6.0, "base": 1.0, "archive": 1.5, "archive of version 6": 20.0}
_SLOW_MUTATIONS = int(os.environ.get("PYHUDI_MUTATIONS", "100000"))


@pytest.fixture(scope="module")
def sound() -> dict[str, Sound]:
    return {name: made(name) for name in TABLES}


def reference(sound: dict[str, Sound], count: int, seed: int) -> tuple[Counter[tuple[str, str, str]], list[Case]]:
    """Return how many cases had which result, and those that were wrong."""
    verdicts: Counter[tuple[str, str, str]] = Counter()
    wrong = []
    for case in cases(sound, count, seed):
        result = verdict(sound[case.table], case)
        verdicts[case.kind, case.way, result] += 1
        if result == WRONG:
            wrong.append(case)
    return verdicts, wrong


def check(sound: dict[str, Sound], count: int, seed: int, record: Callable[[str, Any], None]) -> None:
    logging.disable(logging.CRITICAL)
    try:
        verdicts, wrong = reference(sound, count, seed)
    finally:
        logging.disable(logging.NOTSET)
    for kind, answer in shares(verdicts).items():
        record(kind, "{1} of {0} mutations unnoticed, {2:.2f} %".format(*answer))
    assert not [case for case in wrong if case.kind not in MOST_UNNOTICED]
    over = {kind: share for kind, (_, _, share) in shares(verdicts).items() if share > MOST_UNNOTICED.get(kind, 0)}
    assert not over, (over, wrong)
    results = Counter(result for _, _, result in verdicts.elements())
    assert results[RIGHT] > count / 4
    assert results[NAMED] > count / 10
    assert results[TYPED] < count / 20, "errors that do not name the file"


@pytest.mark.parametrize(("count", "seed"), [(300, 1), pytest.param(_SLOW_MUTATIONS, 2, marks=pytest.mark.slow)])
def test_mutations_are_noticed_or_change_no_row(sound, record_property, count: int, seed: int) -> None:
    check(sound, count, seed, record_property)
