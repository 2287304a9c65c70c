"""Rolling back what failed writes left: plan, execute, and find what is due."""

from __future__ import annotations

from pyhudi.service.rollback.failed_writes import failed_writes, roll_back_failed_writes
from pyhudi.service.rollback.rollback_plan import plan_rollback

__all__ = ["failed_writes", "plan_rollback", "roll_back_failed_writes"]
