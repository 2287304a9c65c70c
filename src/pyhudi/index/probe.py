"""Asks base files which of some keys they hold, one task a file."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.index.protocol import Lookup
from pyhudi.kernels.probe import locate_keys
from pyhudi.spec.file_group import BaseFile
from pyhudi.storage.protocol import Storage


@dataclass(frozen=True, slots=True)
class ProbeTask:
    """Look for `keys` in one base file."""

    file: BaseFile
    keys: pa.StringArray


def probe(lookup: Lookup, tasks: Sequence[ProbeTask]) -> list[pa.BooleanArray]:
    """Return for every task which of its keys the file holds, key by key."""
    return lookup.engine.run(functools.partial(hits, lookup.storage), tasks)


def hits(storage: Storage, task: ProbeTask) -> pa.BooleanArray:
    """Return which of the task's keys its file holds."""
    return pc.is_valid(locate_keys(storage, (task.file,), task.keys))
