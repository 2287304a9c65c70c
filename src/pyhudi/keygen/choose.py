"""The key generator of a table, by its configuration. Rules: `HoodieSparkKeyGeneratorFactory`, `KeyGeneratorType`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.keygen.auto import AutoKeys
from pyhudi.keygen.complex import ComplexKeys
from pyhudi.keygen.nonpartitioned import NonpartitionedKeys
from pyhudi.keygen.protocol import KeyGenerator, PartitionLayout
from pyhudi.keygen.simple import SimpleKeys
from pyhudi.spec.key_generator import KeyGeneratorType
from pyhudi.spec.table_keys import COMPLEX_KEY_ENCODING
from pyhudi.spec.table_version import TableVersion

if TYPE_CHECKING:
    from pyhudi.spec.table_config import TableConfig

_SERVED = (
    KeyGeneratorType.SIMPLE,
    KeyGeneratorType.COMPLEX,
    KeyGeneratorType.NON_PARTITION,
    KeyGeneratorType.AUTO_RECORD,
)
_BARE_SINGLE = "hoodie.write.complex.keygen.new.encoding"


def key_generator(config: TableConfig, *, instant: str, task_partition: int) -> KeyGenerator:
    """Return the generator that makes keys and partition paths for a table's new records.

    Raises:
        UnsupportedError: records of this generator can be read, but not made, by this release.
        OptionError: the generator cannot have the table's key fields, or how it writes them is not decided.
    """
    kind = config.key_generator.family
    keys = tuple(config.record_key_fields)
    layout = PartitionLayout(tuple(config.partition_fields), config.hive_style, config.url_encode)
    if kind not in _SERVED:
        raise UnsupportedError(f"Table '{config.name}' has key generator {kind}; this release writes with {', '.join(_SERVED)} only.")
    if not keys:
        return AutoKeys(instant, task_partition, layout)
    if not layout.fields and kind is not KeyGeneratorType.COMPLEX:
        return NonpartitionedKeys(keys)
    if kind is KeyGeneratorType.SIMPLE and len(keys) > 1:
        raise OptionError(
            f"Table '{config.name}' has key generator SIMPLE, which takes one record key field, but has {len(keys)}: "
            f"{', '.join(keys)}. Use COMPLEX."
        )
    if kind is KeyGeneratorType.COMPLEX:
        return ComplexKeys(keys, layout, is_composite=len(keys) > 1 or not _bare_single(config))
    return SimpleKeys(keys, layout)


def _bare_single(config: TableConfig) -> bool:
    """True when the key of one field is its bare value, which tables before version 9 may have or not."""
    encoding = config.properties.get(COMPLEX_KEY_ENCODING)
    if encoding:
        return encoding == "VALUE_ONLY"
    if config.version >= TableVersion.NINE:
        return False
    decision = config.properties.get(_BARE_SINGLE, "").lower()
    if decision not in ("true", "false"):
        raise OptionError(
            f"Table '{config.name}' has key generator COMPLEX with one field, '{config.record_key_fields[0]}', whose keys "
            "were written as 'field:value' by some releases of Hudi and as 'value' by others; the wrong choice would "
            f"double rows. Look at its _hoodie_record_key and set {_BARE_SINGLE}=true for bare values, else false."
        )
    return decision == "true"
