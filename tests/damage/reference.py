"""What a damaged table answers, checked: right, an error that names the file, an error that names the table alone, or wrong rows."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.errors import HudiError
from pyhudi.table.hudi_table import HudiTable
from tests.damage.kinds import WAYS, damage
from tests.damage.tables import QUESTIONS, Sound

RIGHT, NAMED, TYPED, WRONG = "right", "error names file", "error", "wrong"


@dataclass(frozen=True)
class Case:
    """One mutation and one question."""

    table: str
    path: str
    kind: str
    way: str
    question: str
    seed: int


def cases(sound: dict[str, Sound], count: int, seed: int) -> Iterator[Case]:
    """Yield so many cases; kinds, ways and questions come about equally often."""
    chance = random.Random(seed)
    for number in range(count):
        name = chance.choice(sorted(sound))
        kind = chance.choice(sorted(sound[name].files))
        path = chance.choice(sound[name].files[kind])
        # An empty file (of a requested instant) has nothing that could change.
        way = chance.choice(sorted(WAYS)) if sound[name].storage.read(path) else "gone"
        yield Case(name, path, kind, way, chance.choice(sorted(QUESTIONS)), seed * 1_000_003 + number)


def verdict(sound: Sound, case: Case) -> str:
    """Return how a question is answered; errors that are none of pyhudi's are raised."""
    damaged = damage(sound.storage, case.path, case.way, random.Random(case.seed))
    try:
        answer = QUESTIONS[case.question](HudiTable(damaged), sound)
    except HudiError as error:
        return NAMED if is_named(case.path, str(error)) else TYPED
    finally:
        damaged.drop()
    return RIGHT if answer == sound.answers[case.question] else WRONG


def is_named(path: str, text: str) -> bool:
    """Tell whether a text names a file; of a lost one nobody knows the completion time."""
    name = path.rpartition("/")[2]
    return name in text or re.sub(r"_\d+\.", "_*.", name) in text


def shares(verdicts: Counter[tuple[str, str, str]]) -> dict[str, tuple[int, int, float]]:
    """Return for each kind of file how many mutations there were, how many went unnoticed, and the share in percent."""
    kinds = sorted({kind for kind, _, _ in verdicts})
    answer = {}
    for kind in kinds:
        total = sum(count for (one, _, _), count in verdicts.items() if one == kind)
        wrong = sum(count for (one, _, result), count in verdicts.items() if one == kind and result == WRONG)
        answer[kind] = (total, wrong, 100 * wrong / total)
    return answer
