"""Table versions and the timeline layout that goes with each.

Rules: `HoodieTableVersion`. Version 6 (Hudi 0.14, 0.15) has timeline layout 1; 8 (1.0) and 9 (1.1, 1.2) have layout
2. Version 7 was a bridge that no release left tables in.
"""

from __future__ import annotations

import enum

from pyhudi.errors import UnsupportedError


class TableVersion(enum.IntEnum):
    """Versions of the table format that this release knows."""

    SIX = 6
    EIGHT = 8
    NINE = 9

    @property
    def layout(self) -> int:
        """The timeline layout, 1 or 2."""
        return 1 if self is TableVersion.SIX else 2


#: Read and written alike.
SERVED = tuple(TableVersion)


def check_served(version: int, *, for_write: bool) -> TableVersion:
    """Return the version when this release serves it.

    Raises:
        UnsupportedError: it does not; the message names what was found and what is served.

    Example:
        >>> check_served(9, for_write=True)
        <TableVersion.NINE: 9>
    """
    if version in SERVED:
        return TableVersion(version)
    names = ", ".join(str(int(known)) for known in SERVED)
    verb = "writes" if for_write else "reads"
    newer = version > max(SERVED)
    advice = "it was written by a newer Hudi: use a newer pyhudi" if newer else "upgrade it with Apache Hudi 1.x"
    raise UnsupportedError(f"hoodie.table.version={version} is not served: this release {verb} versions {names}; {advice}")
