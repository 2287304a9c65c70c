"""`bootstrap`: a table of the Parquet files of a folder.

Rules: `BootstrapCommand` of `hudi-cli` and `HoodieStreamer.Config`, whose flags are taken too. Of Hudi Streamer nothing else is served: the
command goes by its name only with `--run-bootstrap`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import click

from pyhudi.cli.job_flags import PATH, options_of_file
from pyhudi.cli.shared.error_report import note_table
from pyhudi.cli.shared.options_text import pairs
from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.spark.options.new_table import definition_of
from pyhudi.spec.options import merge_options
from pyhudi.table.hudi_table import HudiTable

_STREAMER: Final = "Streamer"
#: The options that flags with a value stand for, with the spellings of `hudi-cli` and of Hudi Streamer.
_VALUES: Final = {
    ("--source", "--srcPath"): ("hoodie.bootstrap.base.path", "The folder of the Parquet files."),
    ("--table-name", "--tableName", "--target-table"): ("hoodie.table.name", "The name of the table."),
    ("--record-key", "--rowKeyField"): ("hoodie.datasource.write.recordkey.field", "Record key fields, with commas between them."),
    ("--partition-by", "--partitionPathField"): ("hoodie.datasource.write.partitionpath.field", "Partition fields, the same way."),
    ("--order-by", "--source-ordering-field", "--source-ordering-fields"): (
        "hoodie.table.ordering.fields",
        "Ordering fields.",
    ),
    ("--table-type", "--tableType"): ("hoodie.datasource.write.table.type", "COPY_ON_WRITE or MERGE_ON_READ."),
    ("--selector", "--selectorClass"): ("hoodie.bootstrap.mode.selector", "The class that says what is copied."),
    ("--key-generator", "--keyGeneratorClass"): ("hoodie.datasource.write.keygenerator.class", "The class of the key generator."),
    ("--payload-class", "--payloadClass"): ("hoodie.datasource.write.payload.class", "The class of the records' payload."),
    ("--bootstrap-index-class", "--bootstrapIndexClass"): ("hoodie.bootstrap.index.class", "The class of the bootstrap index."),
    ("--fullBootstrapInputProvider",): ("hoodie.bootstrap.full.input.provider", "The class that reads what is copied."),
    ("--base-file-format", "--baseFileFormat"): ("hoodie.table.base.file.format", "PARQUET."),
    ("--parallelism",): ("hoodie.bootstrap.parallelism", "How many skeletons are written at the same time."),
    ("--sync-tool-classes",): ("hoodie.meta.sync.client.tool.class", "The catalogs to register the table in."),
}
#: The options that flags set to true, also where they are given with that word.
_SWITCHES: Final = {
    ("--enable-sync",): ("hoodie.datasource.meta.sync.enable", "Register the table in catalogs."),
    ("--enable-hive-sync", "--enableHiveSync"): ("hoodie.datasource.hive_sync.enable", "Register the table in a Hive metastore."),
}
#: Flags without effect, by the reason.
_UNUSED: Final = {
    ("--source-class",): "a bootstrap reads the Parquet files of hoodie.bootstrap.base.path",
    ("--op",): "a bootstrap is an operation itself",
    ("--spark-master", "-ms", "--sparkMaster"): "a bootstrap runs in threads of this process",
    ("--spark-memory", "-sm", "--sparkMemory"): "a bootstrap runs in threads of this process",
}
#: Flags whose effect is not served, by what to do.
_REFUSED: Final = {
    ("--schemaprovider-class", "--schemaProviderClass"): "the schema is that of the source files; leave it out",
}


def _parameter(flags: tuple[str, ...]) -> str:
    return f"flag_{flags[0].strip('-').replace('-', '_')}"


def _options() -> list[click.Parameter]:
    values = [click.Option([*flags, _parameter(flags)], help=f"{text}  [`{key}`]") for flags, (key, text) in _VALUES.items()]
    switches = [
        click.Option([*flags, _parameter(flags)], is_flag=False, flag_value="true", type=click.BOOL, help=f"{text}  [`{key}`]")
        for flags, (key, text) in _SWITCHES.items()
    ]
    unused = [click.Option([*flags, _parameter(flags)], help="No effect.") for flags in _UNUSED]
    refused = [click.Option([*flags, _parameter(flags)], hidden=True) for flags in _REFUSED]
    return [
        *PATH,
        *values,
        *switches,
        click.Option(
            ["--base-path", "--target-base-path", "--targetPath", "base_path"],
            metavar="PATH",
            callback=note_table,
            is_eager=True,
            help="PATH, as Hudi takes it.",
        ),
        click.Option(["--props", "--propsFilePath", "props"], metavar="FILE", help="A file of hoodie.* options."),
        click.Option(["--option", "--hoodie-conf", "options"], multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; repeatable."),
        click.Option(["--hoodieConfigs", "configs"], multiple=True, metavar="KEY=VALUE,...", help="The same, with commas between them."),
        click.Option(["--storage-option", "storage_options"], multiple=True, metavar="KEY=VALUE", help="An option of the storage."),
        click.Option(["--run-bootstrap", "run_bootstrap"], is_flag=True, help="Needed where the command goes by the name HoodieStreamer."),
        click.Option(["--bootstrap-overwrite", "overwrite"], is_flag=True, hidden=True),
        *unused,
        *refused,
        click.Option(["--json", "as_json"], is_flag=True, help="One JSON object."),
    ]


def _run(*, path: str | None, base_path: str | None, as_json: bool, **values: Any) -> None:
    _check(path, base_path, values)
    definition = definition_of(_stated(values), ())
    table = HudiTable.bootstrap(
        str(path or base_path),
        name=definition.name,
        keys=definition.keys,
        partition_by=definition.partition_by,
        order_by=definition.order_by,
        table_type=definition.table_type,
        options=definition.options,
        storage_options=pairs(values["storage_options"]) or None,
    )
    source = definition.options.get("hoodie.bootstrap.base.path")
    done = {"table": table.storage.uri, "source": source, "rows": len(table)}
    click.echo(json.dumps(done) if as_json else f"bootstrapped {done['table']}: {done['rows']} rows of {source}")


def _check(path: str | None, base_path: str | None, values: Mapping[str, Any]) -> None:
    """Refuse what is not served, and say which flags have no effect.

    Raises:
        UsageError: no table is named, or two; or Hudi Streamer is asked for another work.
        UnsupportedError: a flag is not served.
    """
    if _STREAMER in (click.get_current_context().info_name or "") and not values["run_bootstrap"]:
        raise UsageError(
            "of HoodieStreamer only --run-bootstrap is served: write its sources with Spark's DataFrames or streams"
            " (df.write.format('hudi'), docs/streaming.md)"
        )
    if path is None and base_path is None:
        raise UsageError("name the table that is to be made: PATH, or --target-base-path PATH")
    if path is not None and base_path is not None and path != base_path:
        raise UsageError(f"two tables are named: {path}, and by --target-base-path {base_path}")
    if values["overwrite"]:
        raise UnsupportedError(f"--bootstrap-overwrite would delete the table at {path or base_path} first: delete it, or name another")
    for flags, reason in _REFUSED.items():
        if values[_parameter(flags)] is not None:
            raise UnsupportedError(f"{flags[0]} is not served: {reason}")
    for unused, reason in _UNUSED.items():
        if values[_parameter(unused)] is not None:
            click.echo(f"{unused[0]} has no effect: {reason}", err=True)


def _stated(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the options: those of the file, then those by their keys, then flags.

    Raises:
        UsageError: the file cannot be read.
        OptionError: one is no KEY=VALUE.
    """
    of_file = options_of_file(values["props"])
    by_key = pairs([*values["options"], *(part for text in values["configs"] for part in re.split(r",(?=[\w.-]+=)", text))])
    of_flags = {
        key: str(value).lower() if isinstance(value, bool) else value
        for flags, (key, _) in (_VALUES | _SWITCHES).items()
        if (value := values[_parameter(flags)]) is not None
    }
    return merge_options(of_file, by_key, of_flags)


bootstrap = click.Command(
    "bootstrap",
    callback=_run,
    params=_options(),
    help="Create a table at PATH of the Parquet files of a folder; their data stay where they are, or are copied.",
)
