"""Which index a write asks. Rules: `SparkHoodieIndexFactory`; SIMPLE is the default here, for every engine."""

from __future__ import annotations

from pyhudi.errors import OptionError, UnsupportedError, nearest
from pyhudi.index.global_simple import GlobalSimpleIndex
from pyhudi.index.protocol import Index
from pyhudi.index.simple import SimpleIndex
from pyhudi.spec.options import Options
from pyhudi.spec.table_config import TableConfig

_TYPE = "hoodie.index.type"
_MOVE = "hoodie.simple.index.update.partition.path"
_SERVED = ("SIMPLE", "GLOBAL_SIMPLE")
_LATER = (
    "BLOOM",
    "GLOBAL_BLOOM",
    "BUCKET",
    "RECORD_INDEX",
    "GLOBAL_RECORD_LEVEL_INDEX",
    "RECORD_LEVEL_INDEX",
    "INMEMORY",
    "HBASE",
    "FLINK_STATE",
)


def choose_index(options: Options, config: TableConfig) -> Index:
    """Return the index that the options name, SIMPLE when they name none.

    Raises:
        UnsupportedError: this release does not serve that index.
        OptionError: there is no index of that name.
    """
    name = options.text(_TYPE).upper()
    if name == "SIMPLE":
        return SimpleIndex()
    if name == "GLOBAL_SIMPLE":
        return GlobalSimpleIndex(tuple(config.ordering_fields), config.merge_mode, move=options.flag(_MOVE))
    if name in _LATER:
        raise UnsupportedError(f"{_TYPE}={name} comes with a later release; SIMPLE and GLOBAL_SIMPLE are served and find the same records.")
    raise OptionError(f"{_TYPE}={name} is unknown.{nearest(name, (*_SERVED, *_LATER))}")
