"""What options say about cleaning, in one value. Rules: `HoodieCleanConfig`."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from pyhudi.errors import OptionError
from pyhudi.spec.options import Options

_POLICY = "hoodie.clean.policy"
_COMMITS, _HOURS, _VERSIONS = "hoodie.clean.commits.retained", "hoodie.clean.hours.retained", "hoodie.clean.fileversions.retained"
_SELECTED, _PATTERN = "hoodie.clean.partition.filter.selected", "hoodie.clean.partition.filter.regex"
_INCREMENTAL = "hoodie.clean.incremental.enabled"
#: The value of `hoodie.prewrite.cleaner.policy` that asks for a clean; the others ask for what every write does, or nothing.
_CLEAN = "CLEAN"
_EMPTY_HOURS = "hoodie.write.empty.clean.interval.hours"


class CleanPolicy(enum.StrEnum):
    """What decides how long a file slice stays after a newer one has taken its place."""

    KEEP_LATEST_COMMITS = "KEEP_LATEST_COMMITS"
    KEEP_LATEST_BY_HOURS = "KEEP_LATEST_BY_HOURS"
    KEEP_LATEST_FILE_VERSIONS = "KEEP_LATEST_FILE_VERSIONS"


@dataclass(frozen=True, slots=True)
class CleanSettings:
    """When to clean, and what stays.

    Attributes:
        automatic: whether writes clean.
        in_background: whether they do so in a thread.
        policy: what decides how long slices stay.
        commits: completed commits whose states stay readable, for KEEP_LATEST_COMMITS.
        hours: how long states stay readable, for KEEP_LATEST_BY_HOURS.
        versions: file slices that stay of each file group, for KEEP_LATEST_FILE_VERSIONS.
        trigger_commits: completed commits since the last clean from which on another one is planned.
        incremental: whether only partitions are looked at that commits have touched since the last clean.
        selected: the partitions to clean; empty for all.
        pattern: a regular expression of the partitions to clean, where none are selected; empty for all.
        most_commits: how many commits further than the last clean this one may go.
        empty_hours: hours after which a clean that deletes nothing is recorded, 0 for never; None where the options do not say.
        several: whether a clean is planned while another one is pending.
        before_write: whether a write begins with a clean.
        deletes_sources: whether files go, with their skeletons, that the table was bootstrapped from.
    """

    automatic: bool = True
    in_background: bool = False
    policy: CleanPolicy = CleanPolicy.KEEP_LATEST_COMMITS
    commits: int = 10
    hours: int = 24
    versions: int = 3
    trigger_commits: int = 1
    incremental: bool = True
    selected: tuple[str, ...] = ()
    pattern: str = ""
    most_commits: int = (1 << 63) - 1
    empty_hours: int | None = None
    several: bool = False
    before_write: bool = False
    deletes_sources: bool = False

    @property
    def is_filtered(self) -> bool:
        """Whether only some partitions are cleaned."""
        return bool(self.selected or self.pattern)

    def takes(self, partition_path: str) -> bool:
        """Tell whether a partition is among those to clean."""
        if self.selected:
            return partition_path in self.selected
        return not self.pattern or re.fullmatch(self.pattern, partition_path) is not None


def clean_settings(options: Options) -> CleanSettings:
    """Return what the options decide.

    Raises:
        OptionError: filters of partitions without a full plan, an expression that is none, or an interval that is none.
    """
    settings = CleanSettings(
        automatic=options.flag("hoodie.clean.automatic"),
        in_background=options.flag("hoodie.clean.async.enabled"),
        policy=_policy(options),
        commits=options.integer(_COMMITS),
        hours=options.integer(_HOURS),
        versions=options.integer(_VERSIONS),
        trigger_commits=options.integer("hoodie.clean.trigger.max.commits"),
        incremental=options.flag(_INCREMENTAL),
        selected=tuple(path.strip() for path in options.text(_SELECTED).split(",") if path.strip()),
        pattern=options.text(_PATTERN).strip(),
        most_commits=options.integer("hoodie.clean.max.commits.to.clean"),
        empty_hours=_empty_hours(options),
        several=options.flag("hoodie.clean.multiple.enabled"),
        before_write=options.text("hoodie.prewrite.cleaner.policy").upper() == _CLEAN,
        deletes_sources=options.flag("hoodie.clean.delete.bootstrap.base.file"),
    )
    if settings.is_filtered and settings.incremental and settings.policy is not CleanPolicy.KEEP_LATEST_FILE_VERSIONS:
        given = _SELECTED if settings.selected else _PATTERN
        raise OptionError(f"{given} needs {_INCREMENTAL}=false: an incremental clean would never come back to the partitions left out")
    try:
        re.compile(settings.pattern)
    except re.error as error:
        raise OptionError(f"{_PATTERN}={settings.pattern} is no regular expression: {error}") from None
    return settings


def _policy(options: Options) -> CleanPolicy:
    """Return the policy that is asked for, or the one whose retention alone is given."""
    if options.get(_POLICY) is not None:
        return CleanPolicy(options.text(_POLICY).upper())
    retained = {
        _COMMITS: CleanPolicy.KEEP_LATEST_COMMITS,
        _HOURS: CleanPolicy.KEEP_LATEST_BY_HOURS,
        _VERSIONS: CleanPolicy.KEEP_LATEST_FILE_VERSIONS,
    }
    given = [policy for key, policy in retained.items() if options.get(key) is not None]
    return given[0] if len(given) == 1 else CleanPolicy.KEEP_LATEST_COMMITS


def _empty_hours(options: Options) -> int | None:
    if options.get(_EMPTY_HOURS) is None:
        return None
    hours = options.integer(_EMPTY_HOURS)
    if hours == 0 or hours < -1:
        raise OptionError(f"{_EMPTY_HOURS}={hours} must be 1 or more, or -1 for no empty cleans")
    return max(hours, 0)
