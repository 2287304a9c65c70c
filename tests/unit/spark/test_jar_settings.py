"""Settings of Apache Hudi's pages are told apart from a user's own, wherever they stand."""

from __future__ import annotations

import pytest

from pyhudi.spark.options.jar_settings import arguments_without_jar, changed_settings, submit_text_without_jar, without_jar

EXTENSION = "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
CATALOG = "org.apache.spark.sql.hudi.catalog.HoodieCatalog"
REGISTRATOR = "org.apache.spark.HoodieSparkKryoRegistrar"
BUNDLE = "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.1.0"


@pytest.mark.parametrize(
    ("key", "value", "left"),
    [
        ("spark.sql.extensions", EXTENSION, ""),
        ("spark.sql.extensions", f"io.delta.sql.DeltaSparkSessionExtension, {EXTENSION}", "io.delta.sql.DeltaSparkSessionExtension"),
        ("spark.sql.catalog.spark_catalog", CATALOG, "builtin"),
        ("spark.sql.catalog.hudi", CATALOG, "hudi.CatalogAlias"),
        ("spark.kryo.registrator", f"my.Registrator,{REGISTRATOR}", "my.Registrator"),
        ("spark.jars.packages", f"{BUNDLE},org.postgresql:postgresql:42.7.0", "org.postgresql:postgresql:42.7.0"),
        ("spark.jars", "s3://b/hudi-spark3.5-bundle_2.12-1.1.0.jar,/jars/hudi-tools.jar", "/jars/hudi-tools.jar"),
        ("spark.jars", "/opt/hudi-aws-bundle-1.1.0.jar", ""),
    ],
)
def test_what_names_the_jar_is_removed_and_nothing_else(key: str, value: str, left: str) -> None:
    cleaned, removals = without_jar(key, value)
    assert cleaned == left
    assert [removal.key for removal in removals] == [key]
    assert "pyhudi needs neither" in str(removals[0])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
        ("spark.sql.catalog.hudi", "org.apache.iceberg.spark.SparkCatalog"),
        ("spark.sql.catalog.hudi.type", CATALOG),
        ("spark.sql.extensions", "my.hudi.Extension"),
        ("spark.jars", "/org.apache.hudi:x/tools.jar"),
        ("spark.jars.packages", "com.example:hudi-spark-bundle:1.0"),
        ("spark.app.name", BUNDLE),
    ],
)
def test_settings_of_others_stay_as_they_are(key: str, value: str) -> None:
    assert without_jar(key, value) == (value, [])
    assert changed_settings({key: value}) == ({}, [])


def test_arguments_of_the_quick_start() -> None:
    arguments = (
        f"--packages {BUNDLE} --conf 'spark.serializer=org.apache.spark.serializer.KryoSerializer' --conf=spark.sql.extensions={EXTENSION}"
        f" -c spark.sql.catalog.spark_catalog={CATALOG} --conf 'spark.kryo.registrator={REGISTRATOR}' --conf 'x=a b'"
        " --jars mine.jar pyspark-shell"
    )
    text, removals = submit_text_without_jar(arguments)
    assert text == (
        "--conf spark.serializer=org.apache.spark.serializer.KryoSerializer"
        " -c spark.sql.catalog.spark_catalog=builtin --conf 'x=a b' --jars mine.jar pyspark-shell"
    )
    assert [removal.value for removal in removals] == [BUNDLE, EXTENSION, CATALOG, REGISTRATOR]


def test_text_without_the_jar_is_not_touched() -> None:
    text = "--conf  spark.x='a  b'  pyspark-shell"
    assert submit_text_without_jar(text) == (text, [])


def test_flag_without_its_value_is_left_to_spark() -> None:
    assert arguments_without_jar(["--packages"]) == (["--packages"], [])
