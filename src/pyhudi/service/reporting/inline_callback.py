"""The commit callback that a write calls after its commit. Rules: `BaseHoodieWriteClient.commitStats`."""

from __future__ import annotations

from pyhudi.errors import HudiError, ReportingError
from pyhudi.service.inline_run import InlineRun, WrittenTable
from pyhudi.service.reporting.commit_callback import CLASS, CommitCallback, CommitCallbackMessage, commit_callback_of
from pyhudi.spec.options import Options


def check_callback_options(options: Options) -> None:
    """See before a write that its commit callback can be had.

    Raises:
        OptionError: an option is wrong.
        UnsupportedError: the class that is named is not served.
    """
    commit_callback_of(options)


def call_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the call of the commit callback when the options of a write ask for one."""
    callback = commit_callback_of(table.options)
    if callback is None:
        return None
    return InlineRun(lambda: _call(callback, table))


def _call(callback: CommitCallback, table: WrittenTable) -> tuple[str, ...]:
    instant, metadata = table.commit.instant, table.commit.metadata
    message = CommitCallbackMessage(
        instant.requested,
        table.config.name,
        table.runner.storage.uri,
        tuple(metadata.all_stats()),
        instant.action.value,
        dict(metadata.extra_metadata),
    )
    try:
        callback.call(message)
    except HudiError:
        raise
    except Exception as error:  # the user's code may raise anything
        name = table.options.text(CLASS)
        raise ReportingError(f"the commit callback {name} failed: {type(error).__name__}: {error}") from error
    return (f"commit callback called for {instant.requested}",)
