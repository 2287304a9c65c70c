"""Every `hoodie.*` key that pyhudi knows, and finding one by any of its names.

Rules: the configuration of Apache Hudi 1.2; old spellings count as aliases. Names are matched without regard to case, as Spark's options
are. A family (`hoodie.metrics.*`) stands for all keys of Apache Hudi below it that are not listed themselves, an open one
(`hoodie.streamer.**`) for any name below it: classes that are not in Apache Hudi's bundle for Spark read those.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from pyhudi.errors import did_you_mean
from pyhudi.spec.config.archival_keys import ARCHIVAL
from pyhudi.spec.config.cleaning_keys import CLEANING
from pyhudi.spec.config.clustering_keys import CLUSTERING
from pyhudi.spec.config.compaction_keys import COMPACTION
from pyhudi.spec.config.concurrency_keys import CONCURRENCY
from pyhudi.spec.config.config_key import ConfigKey
from pyhudi.spec.config.engine_keys import ENGINE
from pyhudi.spec.config.index_keys import INDEXES
from pyhudi.spec.config.metadata_table_keys import METADATA_TABLE
from pyhudi.spec.config.read_keys import READING
from pyhudi.spec.config.recorded_keys import current_name, recorded_keys
from pyhudi.spec.config.service_keys import SERVICES
from pyhudi.spec.config.sync_keys import SYNC
from pyhudi.spec.config.table_config_keys import TABLES
from pyhudi.spec.config.ttl_keys import TTL
from pyhudi.spec.config.write_keys import WRITING

_PREFIXES: Final = ("hoodie.", "pyhudi.")
#: Names of options are long and share their words: two that agree in less are about different things.
_LIKENESS: Final = 0.75
KEYS: tuple[ConfigKey, ...] = (
    *TABLES,
    *WRITING,
    *INDEXES,
    *READING,
    *COMPACTION,
    *CLUSTERING,
    *ARCHIVAL,
    *CLEANING,
    *CONCURRENCY,
    *TTL,
    *METADATA_TABLE,
    *SYNC,
    *SERVICES,
    *ENGINE,
)

_ABOUT_TABLES = frozenset(TABLES)
_OF_HUDI = "hoodie."
_BY_NAME = {name.lower(): key for key in KEYS for name in (key.name, *key.aliases) if not key.is_family}
#: Longest first: the nearest family decides.
_FAMILIES = sorted(((key.prefix.lower(), key) for key in KEYS if key.is_family), key=lambda family: -len(family[0]))


def find_key(name: str) -> ConfigKey | None:
    """Return the key of this name or alias, or its family; None when pyhudi does not know it.

    Example:
        >>> find_key("primaryKey").name
        'hoodie.datasource.write.recordkey.field'
    """
    exact = _BY_NAME.get(name)  # most names are written as the table has them: a write asks for hundreds
    if exact is not None:
        return exact
    lowered = name.lower()
    match = _BY_NAME.get(lowered)
    if match is not None or not lowered.startswith(_OF_HUDI):
        return match
    current = current_name(name)
    if current is None:
        return _family_of(lowered, is_open=True)
    return _BY_NAME.get(current.lower()) or _family_of(current.lower(), is_open=False)


def _family_of(lowered: str, *, is_open: bool) -> ConfigKey | None:
    return next((key for prefix, key in _FAMILIES if lowered.startswith(prefix) and (key.is_open or not is_open)), None)


def concerns_table(name: str) -> bool:
    """Tell whether a key says something about the table itself, not about one write or read of it.

    Example:
        >>> concerns_table("primaryKey"), concerns_table("hoodie.index.type")
        (True, False)
    """
    return find_key(name) in _ABOUT_TABLES


def suggestion(name: str) -> str:
    """Return ` Did you mean ...?` for the known name closest to an unknown one, or an empty string.

    What is compared is what follows `hoodie.` or `pyhudi.`: with it, short names would all be close.

    Example:
        >>> suggestion("hoodie.parquet.max.filesize"), suggestion("hoodie.my.setting")
        (" Did you mean 'hoodie.parquet.max.file.size'?", '')
    """
    lowered = name.lower()
    prefix = next((one for one in _PREFIXES if lowered.startswith(one)), "")
    rests = {known.removeprefix(prefix): spelled for known, spelled in _spellings().items() if known.startswith(prefix)}
    hint = did_you_mean(lowered.removeprefix(prefix), rests, likeness=_LIKENESS)
    rest = next((rest for rest in rests if f"'{rest}'" in hint), None)
    return hint if rest is None else hint.replace(f"'{rest}'", f"'{rests[rest]}'")


@cache
def _spellings() -> dict[str, str]:
    """Return every name that may be meant, by its lower case."""
    listed = [name for key in KEYS if not key.is_family for name in (key.name, *key.aliases)]
    return {name.lower(): name for name in (*recorded_keys(), *listed)}
