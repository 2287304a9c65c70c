"""Entries of a commit's extra metadata that each commit takes over from the one before, such as the offsets of a source.

Rules: `hoodie.write.rolling.metadata.keys` (since 1.2.0). A value of the commit itself counts first; the others come from the newest of the
completed commits that has the key, among the newest few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.spec.extra_metadata import LATEST_SCHEMA, SCHEMA_KEY
from pyhudi.spec.options import Options
from pyhudi.timeline.instant_details import read_commit
from pyhudi.txn.locked_table import TableState

KEYS: Final = "hoodie.write.rolling.metadata.keys"
_LOOKBACK: Final = "hoodie.write.rolling.metadata.timeline.lookback.commits"
#: What each commit says of itself begins so.
_OF_PYHUDI: Final = "pyhudi."


@dataclass(frozen=True, slots=True)
class RollingMetadata:
    """The keys that commits take over, and how many commits they are looked for in."""

    keys: tuple[str, ...] = ()
    lookback: int = 10


NOT_ROLLING: Final = RollingMetadata()


def rolling_metadata(options: Options) -> RollingMetadata:
    """Return what options say.

    Raises:
        OptionError: a key is one that each commit states of itself.
    """
    keys = tuple(dict.fromkeys(key.strip() for key in options.text(KEYS).split(",") if key.strip()))
    for key in keys:
        if key in (SCHEMA_KEY, LATEST_SCHEMA) or key.startswith(_OF_PYHUDI):
            raise OptionError(f"{KEYS}: '{key}' is what each commit states of itself, and cannot be taken over from another; leave it out.")
    return RollingMetadata(keys, options.integer(_LOOKBACK))


def rolled_over(table: TableState, rolling: RollingMetadata, stated: Mapping[str, str]) -> dict[str, str]:
    """Return the entries that a commit takes over: those of the rolling keys that it does not state.

    Args:
        table: the table as the commit finds it.
        rolling: what is taken over.
        stated: what the commit states.

    Raises:
        CorruptTableError: the metadata of a commit is damaged.
    """
    missing = [key for key in rolling.keys if key not in stated]
    values: dict[str, str] = {}
    if not missing:
        return values
    for instant in islice(reversed(table.timeline.data_instants()), rolling.lookback):
        known = read_commit(table.storage, table.config, instant).extra_metadata
        values.update({key: known[key] for key in missing if key in known and key not in values})
        if len(values) == len(missing):
            break
    return values
