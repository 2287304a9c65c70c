"""Tables that are damaged: each has commits, an archive where its version has one, indexes, and rows in log files where its type has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.damage.kinds import kind_of
from tests.unit.table.tables import files_of, make_table, ride

Rows = list[tuple[object, ...]]
_INDEXES = {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true"}
_ARCHIVE = {"hoodie.clean.automatic": "false", "hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "4"}
TABLES = {
    "cow-9": ("9", "COPY_ON_WRITE", {}),
    "mor-9": ("9", "MERGE_ON_READ", {}),
    "mor-8-parquet": ("8", "MERGE_ON_READ", {"hoodie.logfile.data.block.format": "parquet"}),
    "mor-6": ("6", "MERGE_ON_READ", {}),
    "mor-6-archived": ("6", "MERGE_ON_READ", {}),
    "cow-8-listing": ("8", "COPY_ON_WRITE", {"hoodie.metadata.enable": "false"}),
    "mor-9-listing": ("9", "MERGE_ON_READ", {"hoodie.metadata.enable": "false"}),
}


@dataclass(frozen=True)
class Sound:
    """A table that is well: what it answers, and its files by kind."""

    storage: MemoryStorage
    answers: dict[str, Rows]
    files: dict[str, list[str]]
    times: tuple[str, str]
    options: dict[str, str]


def made(name: str) -> Sound:
    """Make one of the tables."""
    version, kind, options = TABLES[name]
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"], table_type=kind, options={"hoodie.write.table.version": version})
    writes = options | ({} if "hoodie.metadata.enable" in options else _INDEXES)
    for turn in range(7):
        table.upsert([ride(number, "oslo" if number % 2 else "rome", turn * 10 + number) for number in range(turn, turn + 5)], writes)
    if version != "6" or name.endswith("archived"):
        table.services.archive(options=_ARCHIVE)
        for turn in range(2):
            table.upsert([ride(number, "oslo" if number % 2 else "rome", 100 + turn) for number in range(3, 7)], writes)
    times = table.history()["completed" if version != "6" else "requested"].to_pylist()
    sound = Sound(storage, {}, {}, (str(times[1]), str(times[-2])), options)
    for question, query in QUESTIONS.items():
        sound.answers[question] = query(HudiTable(storage.copy()), sound)
    for path in files_of(storage):
        if (result := kind_of(path)) and ".locks" not in path:
            sound.files.setdefault(result, []).append(path)
    return sound


def _rows(table: HudiTable, **arguments: Any) -> Rows:
    rows = table.to_arrow(**arguments).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def _read_options(sound: Sound) -> dict[str, str]:
    return {key: value for key, value in sound.options.items() if key.startswith("hoodie.metadata")}


def _changes(table: HudiTable, sound: Sound) -> Rows:
    return sorted(tuple(row.values()) for row in table.changes(sound.times[1]).to_pylist())


def _history(table: HudiTable) -> Rows:
    """Return the times of all actions, archived ones too; an action whose completed file is missing is still there as inflight."""
    return sorted({(time,) for time in table.history()["requested"].to_pylist()})


def _write(table: HudiTable, sound: Sound) -> Rows:
    table.upsert([ride(4, "rome", 999), ride(77, "oslo", 7)], sound.options)
    return _rows(table, options=_read_options(sound))


QUESTIONS: dict[str, Callable[[HudiTable, Sound], Rows]] = {
    "snapshot": lambda table, sound: _rows(table, options=_read_options(sound)),
    "count": lambda table, sound: [(table.count(),)],
    "filter": lambda table, sound: _rows(table, filter="id = 5 or value > 100", options=_read_options(sound)),
    "time travel": lambda table, sound: _rows(table, as_of=sound.times[0], options=_read_options(sound)),
    "changes": _changes,
    "history": lambda table, _sound: _history(table),
    "write": _write,
}
