"""Going back to an earlier commit: restores, and rollbacks of the latest completed commit.

May import `savepoint` and `rollback`, whose steps a restore is made of.
"""

from __future__ import annotations

from pyhudi.service.restore.execute_restore import execute_restore
from pyhudi.service.restore.restore_plan import pending_restore, plan_restore
from pyhudi.service.restore.restore_result import RestoreResult, planned_result
from pyhudi.service.restore.roll_back_commit import roll_back_commit

__all__ = ["RestoreResult", "execute_restore", "pending_restore", "plan_restore", "planned_result", "roll_back_commit"]
