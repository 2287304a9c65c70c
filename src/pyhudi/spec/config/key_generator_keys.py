"""Keys that say how record keys and partition paths are made; what CREATE TABLE or the first write fixes.

Rules: `KeyGeneratorOptions`, `TimestampKeyGeneratorConfig`, `HoodieWriteConfig`.
"""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served
from pyhudi.spec.table import table_keys, timestamp_keys
from pyhudi.spec.table.key_generator import KeyGeneratorType

#: What the option of each setting of the timestamp generator is for.
_TIMESTAMP_DOCS = {
    timestamp_keys.TYPE: "What the partition field of the generator TIMESTAMP holds.",
    timestamp_keys.UNIT: "Unit of the numbers of the type SCALAR, such as DAYS.",
    timestamp_keys.INPUT_FORMAT: "Patterns of the strings of DATE_STRING and MIXED, in Joda-Time's letters; the first that fits counts.",
    timestamp_keys.INPUT_DELIMITER: "Regular expression that parts these patterns.",
    timestamp_keys.INPUT_ZONE: "Time zone of strings that name none.",
    timestamp_keys.OUTPUT_FORMAT: "Pattern of the partition path.",
    timestamp_keys.OUTPUT_ZONE: "Time zone of the partition path; that of the text, or of this machine, when not given.",
    timestamp_keys.ZONE: "Time zone of both; takes precedence over the other two.",
}
_TIMESTAMP_CHOICES = {
    timestamp_keys.TYPE: ("UNIX_TIMESTAMP", "EPOCHMILLISECONDS", "EPOCHMICROSECONDS", "SCALAR", "DATE_STRING", "MIXED"),
}
_DEFAULTS = {timestamp_keys.UNIT: "SECONDS", timestamp_keys.INPUT_DELIMITER: ","}

KEY_GENERATORS: tuple[ConfigKey, ...] = (
    served(
        "hoodie.datasource.write.keygenerator.type",
        "How record key and partition path are made.",
        aliases=(table_keys.KEY_GENERATOR_TYPE,),
        choices=tuple(kind.value for kind in KeyGeneratorType if kind is not KeyGeneratorType.HOODIE_TABLE_METADATA),
    ),
    served(
        "hoodie.datasource.write.keygenerator.class",
        "The same, by Java class name, or by the name under which a generator is registered (pyhudi.register_key_generator).",
        aliases=(table_keys.KEY_GENERATOR_CLASS, "hoodie.sql.origin.keygen.class"),
    ),
    *(
        served(
            name,
            doc,
            default=_DEFAULTS.get(name),
            aliases=timestamp_keys.spellings(name),
            choices=_TIMESTAMP_CHOICES.get(name, ()),
        )
        for name, doc in _TIMESTAMP_DOCS.items()
    ),
    served(
        table_keys.LOGICAL_TIMESTAMPS,
        "Timestamps are in keys and partition paths as a clock of this machine shows them, not as microseconds.",
        Kind.FLAG,
        "false",
    ),
    served(
        table_keys.SLASH_DATES,
        "A date in the partition path has a folder for year, month and day each: 2026/01/02. One partition field, not hive style.",
        Kind.FLAG,
        "false",
    ),
    served(
        table_keys.COMPLEX_KEY_ENCODING,
        "Before version 9: whether the generator COMPLEX writes the key of one field as field:value or as the bare value.",
        choices=("FIELD_PREFIXED", "VALUE_ONLY"),
    ),
    served(
        "hoodie.write.complex.keygen.new.encoding",
        "The same: true for the bare value. Version 9 always names the field.",
        Kind.FLAG,
        "false",
    ),
    served(
        table_keys.DROP_PARTITION_COLUMNS,
        "Data files leave out the partition columns; their values are then read from the paths.",
        Kind.FLAG,
        "false",
    ),
    served(
        table_keys.POPULATE_META_FIELDS,
        "false: files have no _hoodie_* columns, record keys are computed from the data (virtual keys).",
        Kind.FLAG,
        "true",
    ),
    *harmless("asks nothing of a writer that knows how keys are written", "hoodie.write.complex.keygen.validation.enable"),
    *refused("pyhudi loads no classes by name", f"{timestamp_keys.DATE_TIME_PARSER}={timestamp_keys.HUDI_PARSER}"),
)
