"""The operation of INSERT and CREATE TABLE AS SELECT, by the settings of the session."""

from __future__ import annotations

import logging

import pytest

from pyhudi.errors import OptionError
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve, warn_without_effect
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.sql.write.insert_operation import (
    INTO,
    operation_of_insert,
    operation_of_new_table,
    operation_of_overwrite,
    policy_of_strict_mode,
    stated_operation,
)

MODE, BULK = "hoodie.sql.insert.mode", "hoodie.sql.bulk.insert.enable"
PROPERTIES = {
    "hoodie.table.name": "t",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.table.version": "9",
    "hoodie.timeline.layout.version": "2",
}
KEYLESS, KEYED = TableConfig(PROPERTIES), TableConfig({**PROPERTIES, "hoodie.table.recordkey.fields": "id"})


@pytest.mark.parametrize(
    ("stated", "given", "keyed", "keyless"),
    [
        (None, {}, "INSERT", "INSERT"),
        ("upsert", {}, "UPSERT", "INSERT"),
        ("UPSERT", {INTO: "insert", MODE: "strict"}, "UPSERT", "INSERT"),
        ("insert", {INTO: "upsert"}, "INSERT", "INSERT"),
        ("bulk_insert", {INTO: "upsert"}, "BULK_INSERT", "BULK_INSERT"),
        ("insert_overwrite", {INTO: "upsert"}, "INSERT_OVERWRITE", "INSERT_OVERWRITE"),
        ("insert_overwrite_table", {}, "INSERT_OVERWRITE_TABLE", "INSERT_OVERWRITE_TABLE"),
        ("delete", {INTO: "upsert"}, "UPSERT", "INSERT"),
        ("delete_partition", {}, "INSERT", "INSERT"),
        (None, {INTO: "upsert", MODE: "strict", BULK: "true"}, "UPSERT", "INSERT"),
        (None, {MODE: "upsert"}, "UPSERT", "INSERT"),
        (None, {BULK: "true"}, "BULK_INSERT", "BULK_INSERT"),
    ],
)
def test_the_write_operation_comes_before_that_of_statements_and_both_before_the_older_keys(stated, given, keyed, keyless):
    for config, expected in ((KEYED, keyed), (KEYLESS, keyless)):
        assert operation_of_insert(stated_operation(stated), resolve(given), config).value == expected


@pytest.mark.parametrize(
    ("stated", "given", "keyed", "keyless"),
    [
        (None, {}, "BULK_INSERT", "BULK_INSERT"),
        (None, {INTO: "upsert"}, "UPSERT", "INSERT"),
        (None, {INTO: "insert"}, "INSERT", "INSERT"),
        (None, {INTO: "bulk_insert"}, "BULK_INSERT", "BULK_INSERT"),
        (None, {MODE: "upsert"}, "BULK_INSERT", "BULK_INSERT"),
        ("upsert", {INTO: "insert"}, "UPSERT", "INSERT"),
        ("insert_overwrite", {}, "BULK_INSERT", "BULK_INSERT"),
        ("delete", {}, "BULK_INSERT", "BULK_INSERT"),
    ],
)
def test_a_new_table_is_filled_by_a_bulk_insert_unless_the_first_two_keys_state_an_insert_or_upsert(stated, given, keyed, keyless):
    for has_keys, expected in ((True, keyed), (False, keyless)):
        assert operation_of_new_table(stated_operation(stated), resolve(given), has_keys=has_keys).value == expected


@pytest.mark.parametrize(
    ("stated", "dynamic", "expected"),
    [
        (None, False, "INSERT_OVERWRITE_TABLE"),
        (None, True, "INSERT_OVERWRITE"),
        ("upsert", False, "INSERT_OVERWRITE_TABLE"),
        ("insert_overwrite", False, "INSERT_OVERWRITE"),
        ("insert_overwrite_table", True, "INSERT_OVERWRITE_TABLE"),
    ],
)
def test_an_overwrite_stays_one_and_the_write_operation_chooses_which(stated, dynamic, expected):
    assert operation_of_overwrite(stated_operation(stated), dynamic=dynamic).value == expected


def test_deletes_have_no_effect_on_statements_that_add_rows_and_are_warned_of(caplog):
    warn_without_effect.cache_clear()  # the log says it once
    with caplog.at_level(logging.WARNING, "pyhudi"):
        assert stated_operation("DELETE") is None
    assert "say DELETE FROM, or RESET it" in caplog.text


def test_an_unknown_operation_is_refused_by_name():
    with pytest.raises(OptionError, match=r"hoodie.datasource.write.operation=upsurt .* upsert, insert"):
        stated_operation("upsurt")


def test_only_an_insert_knows_the_mode_strict():
    strict = resolve({MODE: "strict"})
    assert policy_of_strict_mode(Operation.INSERT, strict, KEYED) == {"hoodie.datasource.insert.dup.policy": "fail"}
    assert policy_of_strict_mode(Operation.INSERT, strict, KEYLESS) == {}
    assert policy_of_strict_mode(Operation.UPSERT, strict, KEYED) == {}
    assert policy_of_strict_mode(Operation.INSERT, resolve({MODE: "strict", INTO: "insert"}), KEYED) == {}


def test_older_keys_that_contradict_each_other_are_refused():
    with pytest.raises(OptionError, match="contradict each other"):
        operation_of_insert(None, resolve({MODE: "strict", BULK: "true"}), KEYED)
