"""Any sequence of log blocks over a base file gives what the rules give record by record, in every mode and block format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.merge_slice import count_merged, iter_merged
from pyhudi.merge.apply_rule import ABSENT, apply_incoming
from pyhudi.merge.merge_rules import RecordVersion
from pyhudi.merge.partial_update import FillPolicy, Record
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE
from pyhudi.spec.files.log_block import BlockType
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.payload_class import PartialMode
from tests.unit.kernels.log_tables import LoggedSlice, Row

SCHEMA = pa.schema({"ts": pa.int64(), "tie": pa.string(), "n": pa.int64(), "s": pa.string(), "_hoodie_is_deleted": pa.bool_()})
KEYS = ["k0", "k1", "k2"]
KEY = "_hoodie_record_key"
COLUMNS = (KEY, "ts", "tie", "n", "s")
EVENT, COMMIT, CUSTOM = MergeMode.EVENT_TIME_ORDERING, MergeMode.COMMIT_TIME_ORDERING, MergeMode.CUSTOM


@dataclass(frozen=True)
class SumUp:
    """Adds the numbers up; a sum of 7 deletes the record, and a newer one without number changes nothing."""

    def merge(self, older: Record, newer: Record) -> Record | None:
        if newer["n"] is None:
            return older
        total = (older["n"] or 0) + newer["n"]
        return None if total == 7 else {**newer, "n": total}


@dataclass
class Block:
    """A block of rows, or of deletes with their ordering values; `columns` None for whole rows."""

    kind: BlockType
    rows: list[Row] = field(default_factory=list)
    columns: tuple[str, ...] | None = None
    deletes: list[tuple[str, Any]] = field(default_factory=list)
    placed: bool = False


keys = st.sampled_from(KEYS)
values = {"ts": st.sampled_from([None, 1, 2, 3]), "tie": st.sampled_from([None, "", "a"]), "n": st.sampled_from([None, 0, 3, 4])}
strings = st.sampled_from([None, "", "x", "absent"])
row = st.fixed_dictionaries({KEY: keys, **values, "s": strings, "_hoodie_is_deleted": st.sampled_from([None, False, False, True])})
unmarked = row.map(lambda entry: entry | {"_hoodie_is_deleted": None})
kinds = st.sampled_from([BlockType.AVRO, BlockType.PARQUET, BlockType.HFILE])
subsets = st.sampled_from([None, None, ("ts", "tie", "n"), ("ts", "tie", "s"), ("n",), ("ts", "tie", "n", "s")])
data = st.builds(Block, kinds, st.lists(row, min_size=1, max_size=4), subsets, placed=st.booleans())
# A delete cannot carry a null: it is written as the least value of its type.
orders = st.one_of(st.just(COMMIT_TIME_DELETE), st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from(["", "a"])))
deletes = st.builds(
    Block, st.just(BlockType.DELETE), deletes=st.lists(st.tuples(keys, orders), min_size=1, max_size=3), placed=st.booleans()
)
whole_blocks = st.builds(Block, kinds, st.lists(row, min_size=1, max_size=4), placed=st.booleans())
# Blocks of some columns are merged another way than whole ones alone.
histories = st.one_of(*(st.lists(st.one_of(rows, rows, deletes), min_size=1, max_size=6) for rows in (whole_blocks, whole_blocks, data)))
by_position = st.sampled_from([BlockType.AVRO, BlockType.PARQUET])
once = st.lists(row, min_size=1, max_size=3, unique_by=lambda entry: entry[KEY])
deletes_once = st.lists(st.tuples(keys, orders), min_size=1, max_size=3, unique_by=lambda entry: entry[0])
placed_blocks = st.one_of(
    st.builds(Block, by_position, once, placed=st.just(True)),
    st.builds(Block, by_position, once, placed=st.just(True)),
    st.builds(Block, st.just(BlockType.DELETE), deletes=deletes_once, placed=st.just(True)),
)
placed_histories = st.lists(placed_blocks, min_size=1, max_size=5)
rules = st.sampled_from(
    [
        (COMMIT, None, None),
        (EVENT, None, None),
        (EVENT, None, None),
        (COMMIT, FillPolicy(PartialMode.IGNORE_DEFAULTS), None),
        (EVENT, FillPolicy(PartialMode.IGNORE_DEFAULTS, defaults=(("n", 0),)), None),
        (EVENT, FillPolicy(PartialMode.FILL_UNAVAILABLE, "absent"), None),
        (CUSTOM, None, SumUp()),
    ]
)


def whole(entry: Row, columns: Sequence[str] | None) -> Row:
    """A row as its block holds it."""
    return {name: value if columns is None or name in (KEY, *columns) else None for name, value in entry.items()}


def versions_of(block: Block, mode: MergeMode) -> list[tuple[str, RecordVersion]]:
    compared = () if mode is COMMIT else ("ts", "tie")
    result = []
    for key, order in block.deletes:
        hard = order is COMMIT_TIME_DELETE or mode is COMMIT
        result.append((key, RecordVersion({}, (None, None)[: len(compared)] if hard else tuple(order), True, hard)))
    present = None if block.columns is None else frozenset((KEY, *block.columns))
    for entry in block.rows:
        given_row = whole(entry, block.columns)
        dies = bool(given_row["_hoodie_is_deleted"])
        ordering = tuple(given_row[name] if present is None or name in present else ABSENT for name in compared)
        result.append((entry[KEY], RecordVersion(given_row, ordering, dies, dies and mode is COMMIT, present)))
    return result


def expected(base: list[Row], blocks: list[Block], context: RecordContext) -> list[Row]:
    mode = context.merge_mode
    history: dict[str, list[RecordVersion]] = {}
    for block in blocks:
        for key, version in versions_of(block, mode):
            history.setdefault(key, []).append(version)
    result: list[Row] = []
    for key in KEYS:
        ordering = context.compared_fields
        stored = [RecordVersion(entry, tuple(entry[name] for name in ordering)) for entry in base if entry[KEY] == key]
        new: list[Row] = []
        starts: Sequence[RecordVersion | None] = stored or [None]
        for start in starts:
            state, removed, again = start, False, False
            for version in history.get(key, []):
                removed |= state is not None and state.by_commit_time
                state = apply_incoming(state, version, mode, context.fill_policy, context.merger)
                again |= removed and not state.deletes
            if state is not None and not state.deletes:
                (new if again else result).append(dict(state.record))
        result += new[:1]
    return result


def built(base: list[Row], blocks: list[Block], context: RecordContext) -> LoggedSlice:
    slice_ = LoggedSlice(context)
    if base:
        slice_.write_base(base)
    index = {entry[KEY]: number for number, entry in enumerate(base)}
    for block in blocks:
        of_block = [entry[KEY] for entry in block.rows] + [key for key, _ in block.deletes]
        unique = len(set(of_block)) == len(of_block)
        positions = None
        if block.placed and unique and set(of_block) <= index.keys() and len(index) == len(base):
            block.rows.sort(key=lambda entry: index[entry[KEY]])
            block.deletes.sort(key=lambda entry: index[entry[0]])
            positions = sorted(index[key] for key in of_block)
        if block.kind is BlockType.HFILE:
            if not unique:
                block.kind = BlockType.AVRO
            else:
                block.rows.sort(key=lambda entry: entry[KEY])
                positions = None
        if block.deletes:
            slice_.add_log(slice_.delete_block(block.deletes, positions=positions))
        else:
            slice_.add_log(slice_.data_block(block.kind, block.rows, columns=block.columns, positions=positions))
    return slice_


def row_counts(rows: list[Row], columns: Sequence[str]) -> Counter[str]:
    return Counter(repr([entry.get(name) for name in columns]) for entry in rows)


bases, limits = st.lists(unmarked, max_size=5), st.sampled_from([1 << 30, 400, 60])


@settings(max_examples=25)
@given(bases, histories, rules, limits)
def test_a_slice_reads_as_its_versions_applied_one_by_one(
    base: list[Row], blocks: list[Block], rule: tuple[MergeMode, FillPolicy | None, Any], limit_bytes: int
) -> None:
    check(base, blocks, rule, limit_bytes)


@pytest.mark.slow
@settings(max_examples=1_000)
@given(bases, histories, rules, limits)
def test_a_thousand_slices_read_as_their_versions_applied_one_by_one(
    base: list[Row], blocks: list[Block], rule: tuple[MergeMode, FillPolicy | None, Any], limit_bytes: int
) -> None:
    check(base, blocks, rule, limit_bytes)


@settings(max_examples=100)
@given(st.tuples(*(unmarked.map(lambda entry, key=key: entry | {KEY: key}) for key in KEYS)), placed_histories, rules)  # type: ignore[misc]
def test_a_slice_whose_blocks_all_have_positions_reads_the_same(
    base: tuple[Row, ...], blocks: list[Block], rule: tuple[MergeMode, FillPolicy | None, Any]
) -> None:
    check(list(base), blocks, rule, 1 << 30)


def check(base: list[Row], blocks: list[Block], rule: tuple[MergeMode, FillPolicy | None, Any], limit_bytes: int) -> None:
    mode, fill_policy, merger = rule
    avro = with_meta_fields(arrow_to_avro(SCHEMA, "t"))
    context = RecordContext("t", SCHEMA, avro, ("ts", "tie"), mode, fill_policy=fill_policy, merger=merger)
    slice_ = built(base, blocks, context)
    rows = expected(base, blocks, context)

    read = [entry for batch in iter_merged(slice_.storage, context, slice_.task(), limit_bytes=limit_bytes) for entry in batch.to_pylist()]
    assert row_counts(read, COLUMNS) == row_counts(rows, COLUMNS)
    assert count_merged(slice_.storage, context, slice_.task()) == len(rows)

    chosen = pc.field("n") == 3
    pruned = iter_merged(slice_.storage, context, slice_.task(columns=("s",)), chosen, limit_bytes=limit_bytes)
    entrys = [entry for batch in pruned for entry in batch.to_pylist()]
    assert row_counts(entrys, ("s",)) == row_counts([entry for entry in rows if entry["n"] == 3], ("s",))
