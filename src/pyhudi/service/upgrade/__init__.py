"""Moving a table to another table version: upgrade and downgrade between 6, 8 and 9, and the change of its type.

A table is of one version at any moment: all that the new version needs is written next to what the old one has, one replacement of
`hoodie.properties` switches, and only then is the old deleted.
"""

from pyhudi.service.upgrade.downgrade_checks import check_version_change
from pyhudi.service.upgrade.switch_version import (
    VersionRequest,
    change_version,
    finish_change,
    forget_rebuild,
    indexes_to_rebuild,
    name_indexes,
    plan_change,
)
from pyhudi.service.upgrade.version_change import VersionChange

__all__ = [
    "VersionChange",
    "VersionRequest",
    "change_version",
    "check_version_change",
    "finish_change",
    "forget_rebuild",
    "indexes_to_rebuild",
    "name_indexes",
    "plan_change",
]
