"""Partial updates, stated on two records: which values of the winner are gaps that the loser fills.

Rules: `PartialUpdateMode`, `PartialUpdateHandler`, `KeepValuesPartialMergingUtils`; docs/format/merging.md#partial-updates. The kernels do
the same on columns; a property test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyhudi.spec.table.payload_class import PartialMode

Record: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FillPolicy:
    """Which values are gaps. `marker` is the text of FILL_UNAVAILABLE; `defaults` are those of the fields that have one other
    than null, as pairs of name and value.
    """

    mode: PartialMode
    marker: str | None = None
    defaults: tuple[tuple[str, Any], ...] = ()

    def is_missing(self, name: str, value: Any) -> bool:
        """Tell whether a value is one to be filled.

        Example:
            >>> FillPolicy(PartialMode.IGNORE_DEFAULTS).is_missing("city", None)
            True
        """
        if self.mode is PartialMode.FILL_UNAVAILABLE:
            return value in (self.marker, None if self.marker is None else self.marker.encode()) and value is not None
        default: Any = dict(self.defaults).get(name)
        return bool(value == default)


def fill_missing(winner: Record, loser: Record, fill_policy: FillPolicy) -> dict[str, Any]:
    """Return the winner with its gaps filled from the loser.

    Example:
        >>> fill_missing({"id": 1, "city": None}, {"id": 1, "city": "lima"}, FillPolicy(PartialMode.IGNORE_DEFAULTS))
        {'id': 1, 'city': 'lima'}
    """
    return {name: loser.get(name) if fill_policy.is_missing(name, value) else value for name, value in winner.items()}


def overlay_values(winner: Record, present_columns: frozenset[str] | None, loser: Record) -> dict[str, Any]:
    """Return the loser with the values of a winner that holds only some columns, `present_columns`; None when it holds all.

    A null that the winner holds counts.
    """
    if present_columns is None:
        return dict(winner)
    return {name: winner[name] if name in present_columns else value for name, value in loser.items()}
