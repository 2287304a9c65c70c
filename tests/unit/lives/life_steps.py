"""The steps of `TableLife`, by name: each changes the table and the model, or reads what was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa

from tests.unit.lives.crashing_steps import crash
from tests.unit.lives.table_life import TableLife, comparable

_EVOLVES: Final = {"hoodie.schema.on.read.enable": "true"}
_JOINS: Final = {"hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true"}
_EARLY: Final = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}


def insert(life: TableLife) -> None:
    if rows := life.draw(8, new=True):
        life.table.insert(life.data(rows), options=life.kind.written_with)
        life.store(rows)


def bulk_insert(life: TableLife) -> None:
    if rows := life.draw(8, new=True):
        life.table.bulk_insert(life.data(rows), options=life.kind.written_with)
        life.store(rows)


def upsert(life: TableLife) -> None:
    rows = life.draw(8)
    life.table.upsert(life.data(rows), options=life.kind.written_with)
    life.store(rows, moves=life.kind.moves is not False)


def merge(life: TableLife) -> None:
    rows = life.draw(6)
    on = life.kind.key_columns + (life.kind.partition_columns if life.kind.moves is None else [])
    builder = life.table.merge(life.data(rows), on=on).when_matched_update().when_not_matched_insert()
    builder.execute(options=life.kind.written_with)
    life.store(rows)


def delete_by_key(life: TableLife) -> None:
    keys = life.random.sample(list(life.rows), min(len(life.rows), 3))
    if keys:
        names = life.kind.key_columns + life.kind.partition_columns
        life.table.delete(life.data(life.rows[key] for key in keys).select(names), options=life.kind.written_with)
        for key in keys:
            del life.rows[key]


def delete_where(life: TableLife) -> None:
    limit = life.random.randrange(-50, 100)
    life.table.delete(where=f"v > {limit}", options=life.kind.written_with)
    life.change(lambda row: None if row["v"] is not None and row["v"] > limit else row)


def update(life: TableLife) -> None:
    limit = life.random.randrange(-100, 50)
    life.table.update({"w": "'u'"}, where=f"v < {limit}", options=life.kind.written_with)
    life.change(lambda row: row | {"w": "u"} if row["v"] is not None and row["v"] < limit else row)


def overwrite(life: TableLife) -> None:
    """Replace the partitions of the rows; of a global index this would delete records of others that moved."""
    names = life.kind.partition_columns
    if life.kind.moves is not None or not (rows := life.draw(4)):
        return
    replaced = {tuple(row[name] for name in names) for row in rows}
    life.table.overwrite(life.data(rows), dynamic=bool(names), options=life.kind.written_with)
    life.change(lambda row: None if tuple(row[name] for name in names) in replaced else row)
    life.store(rows)


def add_column(life: TableLife) -> None:
    if len(life.columns) < 5:
        name, kind = f"x{len(life.steps)}", life.random.choice((pa.string(), pa.int32(), pa.float64()))
        life.table.alter(add={name: kind})
        life.columns[name] = kind


def widen(life: TableLife) -> None:
    narrow = [name for name, kind in life.columns.items() if kind == pa.int32()]
    if narrow:
        name = life.random.choice(narrow)
        life.table.alter(retype={name: pa.int64()})
        life.columns[name] = pa.int64()


def rename(life: TableLife) -> None:
    if name := _added(life):
        new = f"x{len(life.steps)}"
        life.table.alter(rename={name: new}, options=_EVOLVES)
        life.columns = {new if column == name else column: kind for column, kind in life.columns.items()}
        life.change(lambda row: {new if column == name else column: value for column, value in row.items()})


def drop_column(life: TableLife) -> None:
    if name := _added(life):
        life.table.alter(drop=[name], options=_EVOLVES)
        del life.columns[name]
        life.change(lambda row: {column: value for column, value in row.items() if column != name})


def _added(life: TableLife) -> str | None:
    added = [name for name in life.columns if name.startswith("x")]
    return life.random.choice(added) if added else None


def index(life: TableLife) -> None:
    name, column = f"i{len(life.steps)}", life.random.choice(list(life.columns))
    choices: list[Callable[[], Any]] = [lambda: life.table.services.index(name, column), lambda: life.table.services.index(rebuild=True)]
    if life.columns[column] == pa.string():
        choices.append(lambda: life.table.services.index(name, column, using="column_stats", options={"expr": "lower"}))
    life.random.choice(choices)()


def cluster(life: TableLife) -> None:
    life.table.services.cluster(options=_JOINS | life.random.choice(({}, {"hoodie.clustering.plan.strategy.sort.columns": "w"})))


def compact(life: TableLife) -> None:
    if life.kind.table_type == "MERGE_ON_READ":
        life.table.services.compact(mode=life.random.choice(("schedule", "execute", "both")))


def log_compact(life: TableLife) -> None:
    if life.kind.table_type == "MERGE_ON_READ":
        life.table.services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "2"})


def clean(life: TableLife) -> None:
    life.table.services.clean(options={"hoodie.clean.commits.retained": life.random.choice(("1", "3"))})


def archive(life: TableLife) -> None:
    life.table.services.archive(options=_EARLY)


def change_version(life: TableLife) -> None:
    to = life.random.choice(("6", "8", "9"))
    if int(to) > int(life.version):
        life.table.services.upgrade(to)
    elif int(to) < int(life.version):
        life.table.services.downgrade(to)
    life.version = to


def restore(life: TableLife) -> None:
    saved, rows, columns = life.table.savepoint(), dict(life.rows), dict(life.columns)
    upsert(life)
    if life.random.random() < 0.5:
        cluster(life)
    life.table.restore(saved.instant)
    life.rows, life.columns, life.past = rows, columns, []


def read_the_past(life: TableLife) -> None:
    """Rows as of a commit are those that were, or an error where they are cleaned."""
    if not life.past:
        return
    state = life.random.choice(life.past)
    if state.columns == tuple(life.columns):
        stored = life.table.to_arrow(as_of=state.requested).to_pylist()
        assert comparable(stored, life.schema) == comparable(state.rows, life.schema), (state.requested, life.steps, life.kind)


def read_changes(life: TableLife) -> None:
    """Changes since a commit are rows of today, and all that are new or other than they were then."""
    if not life.past or life.kind.created_with.get("hoodie.populate.meta.fields") == "false":
        return
    state = life.random.choice(life.past)
    changed = set(comparable(life.table.changes(since=state.completed).to_pylist(), life.schema))
    today, then = set(comparable(life.rows.values(), life.schema)), set(comparable(state.rows, life.schema))
    assert changed <= today, (state.completed, life.steps, life.kind)
    if state.columns == tuple(life.columns):
        assert today - then <= changed, (state.completed, life.steps, life.kind)


def examine(life: TableLife) -> None:
    """Look for damages; a compaction that is planned is none, nor is a global index that lacks keys which are in several partitions.

    A clean that failed has deleted files that the metadata table lists until the next one ends it.
    """
    harmless, problems = {"nothing pending"}, life.table.inspect.health().to_pylist()
    if any(row["problem"].startswith("clean ") for row in problems):
        harmless.add("files that the metadata table lists are there")
    if life.kind.moves is None and life.kind.partition_columns:
        harmless.add("record index has the keys of the table")
    assert [row for row in problems if row["check"] not in harmless] == []
    assert life.table.inspect.verify().to_pylist() == []


#: Writes are more frequent than services, by the number after each.
STEPS: Final[Mapping[Callable[[TableLife], None], int]] = {
    insert: 2,
    bulk_insert: 1,
    upsert: 4,
    merge: 1,
    delete_by_key: 1,
    delete_where: 1,
    update: 1,
    overwrite: 1,
    add_column: 1,
    widen: 1,
    rename: 1,
    drop_column: 1,
    index: 1,
    cluster: 1,
    compact: 2,
    log_compact: 1,
    clean: 1,
    archive: 1,
    change_version: 1,
    restore: 1,
    read_the_past: 1,
    read_changes: 1,
    examine: 1,
}


#: Those of one action each, which are whole or not at all.
_ACTIONS: Final = tuple(step for step in STEPS if step not in (restore, read_the_past, read_changes, examine))


def crash_any(life: TableLife) -> None:
    """Take a step that fails at one of its calls to the storage."""
    crash(life, _ACTIONS)


def live(seed: int, steps: int, crashes: float = 0) -> TableLife:
    """Return the life of a table after some steps, of which a share fails at one of its calls."""
    life = TableLife(seed)
    try:
        for step in life.random.choices(list(STEPS), list(STEPS.values()), k=steps):
            life.take(step.__name__, crash_any if crashes and life.random.random() < crashes else step)
    finally:
        life.storage.drop()
    return life
