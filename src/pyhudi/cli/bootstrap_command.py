"""`bootstrap`: a table of the Parquet files of a folder. Rules: `BootstrapCommand` of `hudi-cli`, whose flags are taken too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pyhudi.cli.shared.options_text import pairs
from pyhudi.javacompat.properties import parse_properties
from pyhudi.spec.options import merge_options
from pyhudi.table.hudi_table import HudiTable


@click.command()
@click.argument("path")
@click.option("--source", "--srcPath", "source", required=True, metavar="FOLDER", help="The folder of the Parquet files.")
@click.option("--table-name", "--tableName", "name", required=True, help="The name of the table.")
@click.option("--record-key", "--rowKeyField", "keys", required=True, metavar="FIELD,...", help="Record key fields.")
@click.option("--partition-by", "--partitionPathField", "partition_by", default="", metavar="FIELD,...", help="Partition fields.")
@click.option("--order-by", "order_by", default="", metavar="FIELD,...", help="Ordering fields.")
@click.option("--table-type", "--tableType", "table_type", help="COPY_ON_WRITE or MERGE_ON_READ.")
@click.option("--selector", "--selectorClass", "selector", help="The class of hoodie.bootstrap.mode.selector.")
@click.option("--key-generator", "--keyGeneratorClass", "generator", help="The class of the key generator.")
@click.option("--parallelism", type=click.IntRange(min=1), help="How many skeletons are written at the same time.")
@click.option("--props", "--propsFilePath", "props", type=click.Path(exists=True, dir_okay=False), help="A file of hoodie.* options.")
@click.option("--option", "--hoodie-conf", "options", multiple=True, metavar="KEY=VALUE", help="A hoodie.* option; may be given again.")
@click.option("--storage-option", "storage_options", multiple=True, metavar="KEY=VALUE", help="An option of the storage.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def bootstrap(path: str, source: str, name: str, *, as_json: bool, **values: Any) -> None:
    """Create a table at PATH of the Parquet files of a folder; their data stay where they are, or are copied."""
    of_flags = {
        "hoodie.bootstrap.mode.selector": values["selector"],
        "hoodie.datasource.write.keygenerator.class": values["generator"],
        "hoodie.bootstrap.parallelism": values["parallelism"],
    }
    stated = {key: str(value) for key, value in of_flags.items() if value is not None}
    file_options = {} if values["props"] is None else parse_properties(Path(values["props"]).read_bytes())
    table = HudiTable.bootstrap(
        path,
        source,
        name=name,
        keys=_fields(values["keys"]),
        partition_by=_fields(values["partition_by"]),
        order_by=_fields(values["order_by"]),
        table_type=values["table_type"] and values["table_type"].upper(),
        options=merge_options(file_options, pairs(values["options"]), stated),
        storage_options=pairs(values["storage_options"]) or None,
    )
    done = {"table": table.storage.uri, "source": source, "rows": len(table)}
    click.echo(json.dumps(done) if as_json else f"bootstrapped {done['table']}: {done['rows']} rows of {source}")


def _fields(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
