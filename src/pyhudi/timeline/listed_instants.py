"""The instants that the names of a timeline's files tell, as far as names alone tell them.

A write reads its timeline several times, and other writers add files in between. So what was made of the names last is continued by those
that are new: that costs a few operations on sets and dictionaries, and not one on each instant of a long timeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyhudi.cache import LruCache
from pyhudi.spec.instant import COMPLETED_ACTION, Action, Instant, parse_instant

#: Requested time, and the action under which all states of an instant meet.
_Key: TypeAlias = tuple[str, Action]
_MOST_NAMES: Final = 1 << 17
_SERVICES: Final = (Action.COMPACTION, Action.CLUSTERING)


@dataclass(frozen=True, slots=True)
class ListedInstants:
    """The highest state of each instant by key, in the order of the keys, of files with these names; the fields `log_compactions` and
    `services` are those of `Timeline`.
    """

    names: frozenset[str]
    highest: Mapping[_Key, Instant]
    log_compactions: frozenset[str]
    services: frozenset[str]


_NOTHING: Final = ListedInstants(frozenset(), {}, frozenset(), frozenset())
#: The last listing of each timeline.
_LISTED: LruCache[tuple[str, int], ListedInstants] = LruCache(_MOST_NAMES, lambda listed: len(listed.names))


def list_instants(folder: str, names: Mapping[str, object], layout: int) -> ListedInstants | None:
    """Return the instants of a timeline; None where an action is completed twice, of which the files have to be read.

    Args:
        folder: names the timeline.
        names: of its files, sorted.
        layout: of the timeline.

    Raises:
        UnsupportedError: a file names an action unknown to table versions 6 to 9.

    Example:
        >>> listed = list_instants("t", {"20260101000000000.commit.requested": None, "20260101000000000.inflight": None}, 2)
        >>> [one.state.name for one in listed.highest.values()]
        ['INFLIGHT']
    """
    last = _LISTED.get((folder, layout)) or _NOTHING
    listed = None if last.names - names.keys() else _continue(last, sorted(names.keys() - last.names), layout)
    if listed is None and last is not _NOTHING:
        listed = _continue(_NOTHING, names, layout)
    if listed is not None:
        _LISTED.put((folder, layout), listed)
    return listed


def _continue(last: ListedInstants, added: Iterable[str], layout: int) -> ListedInstants | None:
    """Return the instants with those of further files; None where one is completed for the second time, or a state is named twice."""
    added = tuple(added)
    highest = dict(last.highest)
    greatest = next(reversed(highest), None)
    is_sorted, log_compactions, services = True, [], []
    for name in added:
        instant = parse_instant(name, layout)
        if instant is None:
            continue
        key = (instant.requested, COMPLETED_ACTION.get(instant.action, instant.action))
        known = highest.get(key)
        if known is None:
            is_sorted = is_sorted and (greatest is None or greatest < key)
            greatest = key
        elif known.is_completed and instant.is_completed:
            return None
        elif known.state is instant.state and last is not _NOTHING:
            return None  # the first by name counts, whichever was written first
        if known is None or known.state < instant.state:
            highest[key] = instant
        if instant.action is Action.LOG_COMPACTION:
            log_compactions.append(instant.requested)
        elif instant.action in _SERVICES:
            services.append(instant.requested)
    ordered = highest if is_sorted else {key: highest[key] for key in sorted(highest)}
    return ListedInstants(last.names.union(added), ordered, last.log_compactions.union(log_compactions), last.services.union(services))
