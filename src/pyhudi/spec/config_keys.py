"""Every `hoodie.*` key that pyhudi knows, and finding one by any of its names.

Rules: the configuration of Apache Hudi 1.2; old spellings count as aliases. Names are matched without regard to
case, as Spark's options are. A family (`hoodie.metrics.*`) stands for all names below it that are not listed
themselves.
"""

from __future__ import annotations

from pyhudi.errors import nearest
from pyhudi.spec.config.compaction import COMPACTION
from pyhudi.spec.config.indexes import INDEXES
from pyhudi.spec.config.key import ConfigKey
from pyhudi.spec.config.metadata_table import METADATA_TABLE
from pyhudi.spec.config.reading import READING
from pyhudi.spec.config.services import SERVICES
from pyhudi.spec.config.tables import TABLES
from pyhudi.spec.config.writing import WRITING

KEYS: tuple[ConfigKey, ...] = (*TABLES, *WRITING, *INDEXES, *READING, *COMPACTION, *METADATA_TABLE, *SERVICES)

_ABOUT_TABLES = frozenset(TABLES)
_FAMILY = ".*"
_BY_NAME = {name.lower(): key for key in KEYS for name in (key.name, *key.aliases) if not name.endswith(_FAMILY)}
#: Longest first: the nearest family decides.
_FAMILIES = sorted(
    ((key.name.removesuffix("*").lower(), key) for key in KEYS if key.name.endswith(_FAMILY)),
    key=lambda family: -len(family[0]),
)


def find_key(name: str) -> ConfigKey | None:
    """Return the key of this name or alias, or its family; None when pyhudi does not know it.

    Example:
        >>> find_key("primaryKey").name
        'hoodie.datasource.write.recordkey.field'
    """
    lowered = name.lower()
    found = _BY_NAME.get(lowered)
    if found is not None:
        return found
    return next((key for prefix, key in _FAMILIES if lowered.startswith(prefix)), None)


def concerns_table(name: str) -> bool:
    """Tell whether a key says something about the table itself, not about one write or read of it.

    Example:
        >>> concerns_table("primaryKey"), concerns_table("hoodie.index.type")
        (True, False)
    """
    return find_key(name) in _ABOUT_TABLES


def suggestion(name: str) -> str:
    """Return ` Did you mean ...?` for the known name closest to an unknown one, or an empty string."""
    known = [known for key in KEYS for known in (key.name, *key.aliases) if not known.endswith(_FAMILY)]
    by_lower = {text.lower(): text for text in known}
    hint = nearest(name.lower(), by_lower)
    for lowered, text in by_lower.items():
        if f"'{lowered}'" in hint:
            return hint.replace(f"'{lowered}'", f"'{text}'")
    return hint
