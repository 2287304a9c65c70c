"""Hudi's protocol of several writers as states and steps, small enough to visit every state of a few operations.

It follows the description of the copy-on-write protocol (timeline, file groups, slices, locks), with no table services: each operation
upserts or deletes one key. Reads are checked after every step that changes a file: each committed operation must be readable, at its time
and later until another operation on its key, and no key may be visible twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

#: The steps of an operation: a writer's step is the one that it takes next.
BEGIN, LOOK_UP, LOCK_GROUP, WRITE, LOCK_TABLE, INDEX, COMPLETE = range(7)
STEPS = ("begins", "looks up", "locks the group", "writes", "locks and checks", "updates the index", "completes")
#: What may happen to the lock of a writer that is paused: it lasts, it expires, or it expires and the writer notices before it completes.
LASTS, EXPIRES, CHECKED = "lasts", "expires", "checked"


@dataclass(frozen=True)
class Protocol:
    """What the writers of a table rely on."""

    monotonic: bool = True
    control: str = "optimistic"  # or "none", or "pessimistic": a lock for each file group, from before its rows are read
    key_check: bool = True
    put_if_absent: bool = True
    salt: bool = False  # in the names of instants and files
    lease: str = LASTS
    fixed_groups: bool = False  # each key has its group, as with a bucket index


@dataclass(frozen=True)
class Size:
    """How much is explored."""

    keys: int
    groups: int
    operations: int
    writers: int = 2
    deletes: bool = False


class Writer(NamedTuple):
    """An operation of one writer, and how far it is."""

    step: int = BEGIN
    time: int = 0
    name: tuple[int, int] = (0, 0)  # time and salt
    key: int = 0
    value: int = 0  # 0 deletes the key
    group: int = 0
    target: int = 0  # the time of the slice that it merges with
    rows: tuple[int, ...] = ()


class State(NamedTuple):
    """The storage, the index, the locks and the writers."""

    writers: tuple[Writer, ...]
    begun: int  # operations so far
    requested: frozenset[tuple[int, int]]
    completed: frozenset[tuple[tuple[int, int], int]]  # the name of an instant, and its file group
    slices: frozenset[tuple[int, tuple[int, int], tuple[int, ...]]]  # file group, name, and the value of each key
    groups: tuple[int, ...]  # the file group of each key, also of one that was deleted, or -1
    locks: tuple[int, ...]  # who holds the lock of the table, then those of the file groups, or -1
    committed: frozenset[tuple[int, int, int]]  # time, key and value of what was acknowledged


def initial(size: Size) -> State:
    """Return the state of an empty table."""
    locks = (-1,) * (1 + size.groups)
    return State((Writer(),) * size.writers, 0, frozenset(), frozenset(), frozenset(), (-1,) * size.keys, locks, frozenset())


def steps(state: State, protocol: Protocol, size: Size) -> Iterator[tuple[str, State]]:
    """Yield each step that some writer can take, with the state after it."""
    for number, writer in enumerate(state.writers):
        for after in _STEP_OF[writer.step](state, number, writer, protocol, size):
            yield f"writer {number} {STEPS[writer.step]}", after
        if protocol.lease != LASTS and number in state.locks:
            yield f"the lock of writer {number} expires", state._replace(locks=tuple(-1 if one == number else one for one in state.locks))


def _with(state: State, number: int, writer: Writer, **changes: Any) -> State:
    writers = (*state.writers[:number], writer, *state.writers[number + 1 :])
    return state._replace(writers=writers, **changes)


def _given_up(state: State, number: int) -> State:
    return _with(state, number, Writer(), locks=tuple(-1 if one == number else one for one in state.locks))


def _replaced(values: tuple[int, ...], position: int, value: int) -> tuple[int, ...]:
    return (*values[:position], value, *values[position + 1 :])


def _begin(state: State, number: int, writer: Writer, protocol: Protocol, size: Size) -> Iterator[State]:
    """Take a time, and create the requested instant."""
    del writer
    if state.begun == size.operations:
        return
    operation = state.begun + 1
    for time in (operation,) if protocol.monotonic else range(1, size.operations + 1):
        name = (time, operation if protocol.salt else 0)
        if protocol.put_if_absent and name in state.requested:
            continue  # the writer is refused and tries a later time
        for key in range(size.keys):
            for value in (operation, 0) if size.deletes and state.groups[key] >= 0 else (operation,):
                begun = Writer(LOOK_UP, time, name, key, value)
                yield _with(state, number, begun, begun=operation, requested=state.requested | {name})


def _look_up(state: State, number: int, writer: Writer, protocol: Protocol, size: Size) -> Iterator[State]:
    """Find the file group of the key, or choose one for a new key, and read its slice."""
    stored = state.groups[writer.key]
    if protocol.fixed_groups:
        groups: tuple[int, ...] | range = (writer.key % size.groups,)
    else:
        groups = (stored,) if stored >= 0 else range(size.groups)
    for group in groups:
        if protocol.control == "pessimistic":
            yield _with(state, number, writer._replace(step=LOCK_GROUP, group=group))
        else:
            yield _with(state, number, _merged(state, writer._replace(step=WRITE, group=group), size))


def _merged(state: State, writer: Writer, size: Size) -> Writer:
    """Return the writer with the rows of its file group as of its time, and its change."""
    before = max((name for name, group in state.completed if group == writer.group and name[0] < writer.time), default=None)
    stored = (0,) * size.keys if before is None else _rows(state, writer.group, before)
    return writer._replace(target=before[0] if before else 0, rows=_replaced(stored, writer.key, writer.value))


def _rows(state: State, group: int, name: tuple[int, int]) -> tuple[int, ...]:
    return next(rows for one, file, rows in state.slices if one == group and file == name)


def _lock_group(state: State, number: int, writer: Writer, protocol: Protocol, size: Size) -> Iterator[State]:
    """Wait for the lock of the group; give up if it holds a slice that is not older, and read it otherwise."""
    del protocol
    if state.locks[1 + writer.group] >= 0:
        return
    if any(group == writer.group and name[0] >= writer.time for name, group in state.completed):
        yield _given_up(state, number)
        return
    yield _with(state, number, _merged(state, writer._replace(step=WRITE), size), locks=_replaced(state.locks, 1 + writer.group, number))


def _write(state: State, number: int, writer: Writer, protocol: Protocol, size: Size) -> Iterator[State]:
    """Create the file of the new slice, or overwrite one of the same name."""
    del size
    others = frozenset(one for one in state.slices if one[:2] != (writer.group, writer.name))
    if protocol.put_if_absent and len(others) < len(state.slices):
        yield _given_up(state, number)
        return
    then = LOCK_TABLE if protocol.control == "optimistic" else INDEX
    yield _with(state, number, writer._replace(step=then), slices=others | {(writer.group, writer.name, writer.rows)})


def _lock_table(state: State, number: int, writer: Writer, protocol: Protocol, size: Size) -> Iterator[State]:
    """Wait for the table's lock; give up if the group has a completed slice that is later than the one merged with."""
    del protocol, size
    if state.locks[0] >= 0:
        return
    if any(group == writer.group and name[0] > writer.target for name, group in state.completed):
        yield _given_up(state, number)
    else:
        yield _with(state, number, writer._replace(step=INDEX), locks=_replaced(state.locks, 0, number))


def _update_index(state: State, number: int, writer: Writer, protocol: Protocol, size: Size) -> Iterator[State]:
    """Record the group of the key; with the check, give up if another writer has put the key into another group."""
    del size
    if protocol.key_check and state.groups[writer.key] not in (-1, writer.group):
        yield _given_up(state, number)
        return
    yield _with(state, number, writer._replace(step=COMPLETE), groups=_replaced(state.groups, writer.key, writer.group))


def _complete(state: State, number: int, writer: Writer, protocol: Protocol, size: Size) -> Iterator[State]:
    """Create the completed instant, or overwrite one of the same name, and release the lock."""
    del size
    lock = {"none": None, "optimistic": 0, "pessimistic": 1 + writer.group}[protocol.control]
    others = frozenset(one for one in state.completed if one[0] != writer.name)
    is_lost = protocol.lease == CHECKED and lock is not None and state.locks[lock] != number
    if is_lost or (protocol.put_if_absent and len(others) < len(state.completed)):
        yield _given_up(state, number)
        return
    committed = state.committed | {(writer.time, writer.key, writer.value)}
    yield _given_up(state, number)._replace(completed=others | {(writer.name, writer.group)}, committed=committed)


_STEP_OF = (_begin, _look_up, _lock_group, _write, _lock_table, _update_index, _complete)


def anomaly(state: State, size: Size) -> str:
    """Return what a reader sees that is wrong, or nothing."""
    for time in {one[0] for one in state.committed}:
        visible: list[list[int]] = [[] for _ in range(size.keys)]
        for group in range(size.groups):
            newest = max((name for name, one in state.completed if one == group and name[0] <= time), default=None)
            for key, value in enumerate(_rows(state, group, newest) if newest else ()):
                visible[key] += [value] if value else []
        for key, values in enumerate(visible):
            last = max(((at, value) for at, one, value in state.committed if one == key and at <= time), default=(0, 0))[1]
            if values != ([last] if last else []):
                return f"as of {time}, key {key} has the values {values} and not {last}"
    return ""


class Verdict(NamedTuple):
    """What was visited, and the shortest way to an anomaly."""

    states: int
    anomaly: str
    trace: tuple[str, ...]


def explore(protocol: Protocol, size: Size) -> Verdict:
    """Visit every state, breadth first, until a reader sees something wrong."""
    first = initial(size)
    before: dict[State, tuple[State, str] | None] = {first: None}
    front = [first]
    while front:
        following = []
        for state in front:
            for step, after in steps(state, protocol, size):
                if after in before:
                    continue
                before[after] = (state, step)
                following.append(after)
                is_changed = after.slices != state.slices or after.completed != state.completed
                if is_changed and (wrong := anomaly(after, size)):
                    return Verdict(len(before), wrong, _trace(before, after))
        front = following
    return Verdict(len(before), "", ())


def _trace(before: dict[State, tuple[State, str] | None], state: State) -> tuple[str, ...]:
    taken = []
    while (reached := before[state]) is not None:
        state, step = reached
        taken.append(step)
    return tuple(reversed(taken))
