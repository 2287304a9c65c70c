"""`validate`: the files, the rows and the metadata table of a table are checked, and each problem is shown.

Rules: `HoodieMetadataTableValidator`, `HoodieDataTableValidator`. The exit code is 1 when there is a problem, unless `--ignore-failed` is
given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from pyhudi.cli.job_flags import OPTIONS, PATH, job_table, note_unused

#: Flags of Hudi's classes that name a part of what is checked in any case.
_PARTS = (
    "--validate-latest-file-slices",
    "--validate-latest-base-files",
    "--validate-all-file-groups",
    "--validate-all-column-stats",
    "--validate-partition-stats",
    "--validate-bloom-filters",
    "--validate-record-index-count",
    "--validate-record-index-content",
    "--validate-secondary-index",
    "--skip-data-files-for-cleaning",
)


def _run(**values: Any) -> None:
    note_unused(values, has_engine=False)
    for name in _PARTS:
        if values[name.removeprefix("--").replace("-", "_")]:
            click.echo(f"{name} has no effect: everything is checked in any case", err=True)
    table = job_table(values)
    problems = [{"kind": row["check"], "subject": row["subject"], "problem": row["problem"]} for row in table.inspect.health().to_pylist()]
    if values["rows"]:
        problems += [{"kind": row["kind"], "subject": row["path"], "problem": row["problem"]} for row in table.inspect.verify().to_pylist()]
    for line in _lines(problems, as_json=values["as_json"]):
        click.echo(line)
    if problems and not values["ignore_failed"]:
        click.get_current_context().exit(1)


def _lines(problems: list[dict[str, Any]], *, as_json: bool) -> Iterator[str]:
    if as_json:
        yield from map(json.dumps, problems)
        return
    yield from (f"{one['kind']}: {one['subject']}: {one['problem']}" for one in problems)
    if not problems:
        yield "no problem"


validate = click.Command(
    "validate",
    callback=_run,
    params=[
        *PATH,
        click.Option(["--rows"], is_flag=True, help="Read all rows too, with the checksums of pages and blocks, of all versions of files."),
        click.Option(["--ignore-failed", "-ig", "ignore_failed"], is_flag=True, help="End with exit code 0 nevertheless."),
        *OPTIONS,
        click.Option(["--json", "as_json"], is_flag=True, help="One JSON object for each problem."),
        *(click.Option([name], is_flag=True, hidden=True) for name in _PARTS),
    ],
    help="Hold the files and the metadata table of the table at PATH against what its commits state.",
)
