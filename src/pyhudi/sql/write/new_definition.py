"""The table that a CREATE TABLE or REPLACE TABLE describes, as the arguments with which it is created.

Rule (Apache Hudi's page "SQL DDL"): hive-style partition paths unless the properties say otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql.types import StructType

from pyhudi.errors import OptionError, SchemaError, with_subject
from pyhudi.spark.jvm.frame_schema import arrow_schema_of
from pyhudi.spark.jvm.spark_types import to_stored_type
from pyhudi.spec import options as spec_options
from pyhudi.spec.config.config_keys import concerns_table
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig, parse_table_type
from pyhudi.sql.write import table_definition as definitions
from pyhudi.sql.write.table_definition import Definition
from pyhudi.storage.defaults_file import default_table_options
from pyhudi.table.version.recreate_table import NewDefinition

KEYS: Final = "hoodie.datasource.write.recordkey.field"
TYPE: Final = "hoodie.datasource.write.table.type"
_PARTITIONS: Final = "hoodie.datasource.write.partitionpath.field"
_ORDER: Final = "hoodie.table.ordering.fields"
_HIVE_STYLE: Final = "hoodie.datasource.write.hive_style_partitioning"


def new_definition(definition: Definition) -> NewDefinition:
    """Return the table that a statement describes.

    Raises:
        OptionError: a property is unknown or contradicts another.
        SchemaError: there are no columns, a type cannot be stored, or a key column does not exist.
    """
    given = {key: value for key, value in definition.properties.items() if definitions.is_option(key)}
    options = spec_options.resolve(
        spec_options.merge_options({_HIVE_STYLE: "true"}, default_table_options("hoodie.table.name", _PARTITIONS), given)
    )
    schema = definition.ordered(definitions.without_meta_columns(definition.schema))
    if not schema.names:
        raise SchemaError(f"REPLACE TABLE {definition.qualified_name} states no columns: a new table needs them, or AS SELECT.")
    return NewDefinition(
        arrow_schema_of(to_stored_type(schema)),
        definition.name,
        _column_names(definition, schema, options, KEYS),
        _partition_fields(definition, options),
        _column_names(definition, schema, options, _ORDER),
        parse_table_type(options.text(TYPE, default="COPY_ON_WRITE")),
        {**_remaining(options), "hoodie.database.name": definition.database},
    )


def _remaining(options: Options) -> dict[str, str]:
    """Return the options of the table that are no arguments of `HudiTable.create`; those of its writes stay in the catalog."""
    return {name: value for name, value in options.given.items() if concerns_table(name) and name not in (KEYS, _ORDER, TYPE)}


def _column_names(definition: Definition, schema: StructType, options: Options, key: str) -> tuple[str, ...]:
    """Return the columns that a list such as primaryKey names, spelled as the columns are."""
    stated = [name.strip() for name in options.text(key, default="").split(",") if name.strip()]
    spelled_names = {name: _spell_property(schema, name.split(".")) for name in stated}
    if missing := [name for name in stated if spelled_names[name] is None]:
        problem = (
            f"CREATE TABLE {definition.qualified_name}: {missing[0]} of {key} is no column; the columns are {', '.join(schema.names)}."
        )
        raise with_subject(SchemaError(problem), next((text for text in definition.properties.values() if missing[0] in text), missing[0]))
    return tuple(spelled for spelled in spelled_names.values() if spelled is not None)


def _spell_property(schema: StructType, parts: Sequence[str]) -> str | None:
    """Return a column's name, which a dotted one finds in structs, as the table spells it; None when there is none."""
    field = next((field for field in schema.fields if field.name.lower() == parts[0].lower()), None)
    if field is None or len(parts) == 1:
        return None if field is None else field.name
    inner = _spell_property(field.dataType, parts[1:]) if isinstance(field.dataType, StructType) else None
    return None if inner is None else f"{field.name}.{inner}"


def _partition_fields(definition: Definition, options: Options) -> tuple[str, ...]:
    """Return the columns of PARTITIONED BY, with what a property says of how each is written (`ts:TIMESTAMP`).

    Raises:
        OptionError: the property names other columns.
    """
    stated = tuple(field.strip() for field in options.text(_PARTITIONS, default="").split(",") if field.strip())
    named = [field.partition(":")[0] for field in stated]
    if stated and definition.partition_columns and not same_names(named, definition.partition_columns):
        raise OptionError(
            f"CREATE TABLE {definition.qualified_name} says PARTITIONED BY ({', '.join(definition.partition_columns)}), and {_PARTITIONS} ="
            f" {', '.join(stated)}: name the same columns in the same order."
        )
    return stated or tuple(definition.partition_columns)


def same_names(stated: Sequence[str], columns: Sequence[str]) -> bool:
    """Compare two lists of columns; upper and lower case are the same."""
    return [name.lower() for name in stated] == [name.lower() for name in columns]


def properties_of(config: TableConfig) -> dict[str, str]:
    """Return the properties by which CREATE TABLE makes a table like one in storage; what are its defaults is left out."""
    properties = {
        "type": "mor" if config.is_merge_on_read else "cow",
        "primaryKey": ",".join(config.record_key_fields),
        "orderingFields": ",".join(config.ordering_fields),
        "hoodie.datasource.write.hive_style_partitioning": "" if config.hive_style else "false",  # SQL's own default is true
        "hoodie.datasource.write.partitionpath.urlencode": "true" if config.url_encode else "",
    }
    return {name: value for name, value in properties.items() if value}
