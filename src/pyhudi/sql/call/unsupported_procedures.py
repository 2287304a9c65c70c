"""Procedures of Hudi whose service comes with a later release of pyhudi: each is refused by its name."""

from __future__ import annotations

from typing import Final

_REASONS: Final = {
    "several writers at a time come with a later release": ("set_audit_lock show_audit_lock_status validate_audit_lock cleanup_audit_lock"),
}
#: Reason by name.
LATER: Final = {name: reason for reason, names in _REASONS.items() for name in names.split()}
