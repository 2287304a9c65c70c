"""What a task must know of a table, from the table's configuration and schema."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa

from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.keygen.choose_generator import key_fields
from pyhudi.merge.choose_merger import merge_rule
from pyhudi.merge.partial_update import FillPolicy
from pyhudi.spec.table.cdc_mode import logging_mode
from pyhudi.spec.table.payload_class import PartialMode
from pyhudi.spec.table.table_config import TableConfig


def record_context_of(config: TableConfig, schema: pa.Schema, avro_json_with_meta: str) -> RecordContext:
    """Return what tasks must know of the table.

    Args:
        config: the table's configuration.
        schema: the data columns.
        avro_json_with_meta: the schema in Avro, the five meta fields first.

    Raises:
        UnsupportedError: the table merges records by a class, a mode or a key generator that is not known here.
    """
    rule = merge_rule(config, frozenset(schema.names))
    return RecordContext(
        name=config.name,
        schema=schema,
        avro_schema_json=avro_json_with_meta,
        ordering_fields=rule.ordering_fields,
        merge_mode=rule.mode,
        populate_meta_fields=config.populate_meta_fields,
        delete_field=rule.delete_field,
        delete_marker=rule.delete_marker,
        fill_policy=None if rule.fill_policy is None else _with_defaults(rule.fill_policy, avro_json_with_meta),
        merger=rule.merger,
        combines_by_ordering=rule.combines_by_ordering,
        change_log=logging_mode(config),
        virtual_key=None if config.populate_meta_fields else key_fields(config),
    )


def _with_defaults(fill_policy: FillPolicy, avro_json: str) -> FillPolicy:
    if fill_policy.mode is not PartialMode.IGNORE_DEFAULTS:
        return fill_policy
    fields: list[dict[str, Any]] = json.loads(avro_json)["fields"]
    scalars = ((field["name"], field.get("default")) for field in fields)
    return replace(fill_policy, defaults=tuple((name, value) for name, value in scalars if isinstance(value, bool | int | float | str)))
