"""Incoming rows that take values from each other and from stored rows become what the rule gives record by record."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.write_columns import commit_time_deletes, marked_deletes
from pyhudi.kernels.merge.dedupe import precombine
from pyhudi.kernels.merge.merge_join import IncomingRows
from pyhudi.merge.apply_rule import apply_incoming
from pyhudi.merge.merge_rules import RecordVersion
from pyhudi.merge.partial_update import FillPolicy
from pyhudi.schema.avro_arrow import arrow_to_avro
from pyhudi.schema.meta_columns import META_COLUMNS
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.payload_class import PartialMode
from tests.unit.kernels.test_slice_property import KEY, SCHEMA, SumUp

DELETE = "_pyhudi_delete"
COLUMNS = (KEY, *SCHEMA.names)
ROWS = pa.schema([(KEY, pa.string()), (DELETE, pa.bool_()), *zip(SCHEMA.names, SCHEMA.types, strict=True)])
EVENT, COMMIT, CUSTOM = MergeMode.EVENT_TIME_ORDERING, MergeMode.COMMIT_TIME_ORDERING, MergeMode.CUSTOM

values = {
    "ts": st.sampled_from([None, 1, 2, 3]),
    "tie": st.sampled_from([None, "", "a"]),
    "n": st.sampled_from([None, 0, 3, 4]),
    "s": st.sampled_from([None, "", "x", "absent"]),
}
row = st.fixed_dictionaries(
    {
        KEY: st.sampled_from(["k0", "k1", "k2"]),
        DELETE: st.sampled_from([False, False, False, True]),
        **values,
        "_hoodie_is_deleted": st.sampled_from([None, False, False, True]),
    }
)
stored_rows = st.lists(row.map(lambda entry: entry | {DELETE: False, "_hoodie_is_deleted": None}), max_size=5)
rules = st.sampled_from(
    [
        (COMMIT, FillPolicy(PartialMode.IGNORE_DEFAULTS), None),
        (EVENT, FillPolicy(PartialMode.IGNORE_DEFAULTS, defaults=(("n", 0),)), None),
        (EVENT, FillPolicy(PartialMode.FILL_UNAVAILABLE, "absent"), None),
        (CUSTOM, None, SumUp()),
    ]
)


def record_context_of(rule: tuple[MergeMode, FillPolicy | None, Any]) -> RecordContext:
    mode, fill_policy, merger = rule
    return RecordContext("t", SCHEMA, arrow_to_avro(SCHEMA, "t"), ("ts", "tie"), mode, fill_policy=fill_policy, merger=merger)


def version(entry: dict[str, Any], context: RecordContext) -> RecordVersion:
    record = {**dict.fromkeys(META_COLUMNS), **{name: value for name, value in entry.items() if name != DELETE}}
    dies = entry[DELETE] or bool(entry["_hoodie_is_deleted"])
    hard = entry[DELETE] or (dies and not context.compared_fields)
    return RecordVersion(record, tuple(entry[name] for name in context.compared_fields), dies, hard)


def after(state: RecordVersion | None, entry: dict[str, Any], context: RecordContext) -> RecordVersion:
    return apply_incoming(state, version(entry, context), context.merge_mode, context.fill_policy, context.merger)


def record_values(record: Any) -> list[Any]:
    return [record[name] for name in COLUMNS]


@settings(max_examples=100)
@given(st.lists(row, max_size=8), rules)
def test_rows_of_one_batch_are_applied_to_each_other_in_their_order(rows: list[dict[str, Any]], rule: Any) -> None:
    context = record_context_of(rule)
    expected: dict[str, RecordVersion] = {}
    for entry in rows:
        expected[entry[KEY]] = after(expected.get(entry[KEY]), entry, context)

    result = precombine(pa.Table.from_pylist(rows, schema=ROWS), context)
    deleted = commit_time_deletes(result) | marked_deletes(result, context)
    assert sorted(result.column(KEY).to_pylist()) == sorted(expected)
    for entry, is_dead in zip(result.to_pylist(), deleted.tolist(), strict=True):
        state = expected[entry[KEY]]
        assert is_dead == state.deletes
        assert is_dead or record_values(entry) == record_values(state.record)


@settings(max_examples=100)
@given(stored_rows, st.lists(row, max_size=3, unique_by=lambda entry: entry[KEY]), rules)
def test_stored_rows_become_what_the_rule_makes_of_them(stored: list[dict[str, Any]], rows: list[dict[str, Any]], rule: Any) -> None:
    context = record_context_of(rule)
    by_key = {entry[KEY]: entry for entry in rows}
    retained, replaced, deleted = [], [], 0
    for entry in stored:
        start = version(entry, context)
        state = after(start, by_key[entry[KEY]], context) if entry[KEY] in by_key else start
        if state is start:
            retained.append(record_values(entry))
        elif state.deletes:
            deleted += 1
        else:
            replaced.append(record_values(state.record))

    incoming = IncomingRows(pa.Table.from_pylist(rows, schema=ROWS), context)
    batch = incoming.merge(pa.Table.from_pylist(stored, schema=ROWS).drop_columns([DELETE]))
    assert [record_values(entry) for entry in batch.retained.to_pylist()] == retained
    assert [record_values(entry) for entry in batch.replacements.to_pylist()] == replaced
    assert batch.deleted == deleted
    met = {entry[KEY] for entry in stored}
    new = [entry for entry in rows if entry[KEY] not in met and not version(entry, context).deletes]
    assert [record_values(entry) for entry in incoming.inserts().to_pylist()] == [record_values(entry) for entry in new]
