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
from pyhudi.spec.table_version import TableVersion

if TYPE_CHECKING:
    from pyhudi.spec.table_config import TableConfig

_SERVED = (
    KeyGeneratorType.SIMPLE,
    KeyGeneratorType.COMPLEX,
    KeyGeneratorType.NON_PARTITION,
    KeyGeneratorType.AUTO_RECORD,
)
_ENCODING = "hoodie.table.complex.keygenerator.encoding"
_BARE_SINGLE = "hoodie.write.complex.keygen.new.encoding"


def key_generator(config: TableConfig, *, instant: str, task_partition: int) -> KeyGenerator:
    """Return the generator that makes keys and partition paths for a table's new records.

    Raises:
        UnsupportedError: records of this generator can be read, but not made, by this release.
        OptionError: the generator cannot have the table's key fields.
    """
    kind = config.key_generator.family
    keys = tuple(config.record_key_fields)
    layout = PartitionLayout(tuple(config.partition_fields), config.hive_style, config.url_encode)
    if kind not in _SERVED:
        raise UnsupportedError(
            f"Table '{config.name}' has key generator {kind}; this release writes with {', '.join(_SERVED)} only."
        )
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
    encoding = config.properties.get(_ENCODING)
    if encoding:
        return encoding == "VALUE_ONLY"
    return config.version < TableVersion.NINE and config.properties.get(_BARE_SINGLE) == "true"
