"""Starting and taking Spark sessions whose settings ask for Apache Hudi's jar.

Settings of a builder, of `PYSPARK_SUBMIT_ARGS`, of `spark-submit` and of `spark-defaults.conf` lose what names the jar before Spark reads
them. In a session that runs already, what Spark could not load is reset; where it has loaded Apache Hudi's classes, the session is refused.
"""

from __future__ import annotations

import itertools
import logging
import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from pyhudi.errors import UsageError
from pyhudi.javacompat.properties import parse_properties
from pyhudi.spark.jvm import jvm
from pyhudi.spark.options.jar_settings import (
    BUILTIN_CATALOG,
    CATALOG,
    EXTENSIONS,
    Removal,
    changed_settings,
    is_catalog,
    submit_text_without_jar,
    without_jar,
)
from pyhudi.spark.options.start_failures import split_arguments
from pyhudi.storage.named_files import named_file_exists, read_named_file

_log = logging.getLogger("pyhudi.spark")
_SUBMIT_ARGS: Final = "PYSPARK_SUBMIT_ARGS"
_GATEWAY_PORT: Final = "PYSPARK_GATEWAY_PORT"


@contextmanager
def settings_without_jar(options: dict[str, str]) -> Iterator[None]:
    """While it lasts, a session that is started with a builder's options is not told to load Apache Hudi's jar; each removal is logged.

    The options themselves are changed for good, the environment gets its own back. Where Spark runs already, only the options reach a
    session.
    """
    is_running = SparkContext._active_spark_context is not None  # noqa: SLF001 - PySpark has no public name for it
    inherited = {} if is_running else _inherited_settings()
    changed, removals = changed_settings({**inherited, **options})
    for key, value in changed.items():
        if key in inherited or value not in ("", BUILTIN_CATALOG):
            options[key] = value
        else:
            del options[key]
    submit_text = os.environ.get(_SUBMIT_ARGS, "")
    cleaned, of_submit = submit_text_without_jar(submit_text)
    _report([*removals, *of_submit])
    if not of_submit:
        yield
        return
    os.environ[_SUBMIT_ARGS] = cleaned
    try:
        yield
    finally:
        os.environ[_SUBMIT_ARGS] = submit_text


@contextmanager
def conf_without_jar(conf: SparkConf | None) -> Iterator[SparkConf | None]:
    """While it lasts, a context that is started with what it gives is not told to load Apache Hudi's jar either."""
    stated = dict(conf.getAll()) if conf is not None else {}
    options = dict(stated)
    with settings_without_jar(options):
        yield conf if options == stated else SparkConf().setAll(list(options.items()))


def runs_java() -> bool:
    """Tell whether this process has a JVM, of its own or of the `spark-submit` that started it."""
    return SparkContext._gateway is not None or _GATEWAY_PORT in os.environ  # noqa: SLF001 - PySpark has no public name for it


def remove_from_session(session: SparkSession) -> None:
    """Let a running session do without the classes of Apache Hudi that its settings name.

    Raises:
        UsageError: Spark has loaded them: both implementations would process the session's statements.
    """
    extensions = without_jar(EXTENSIONS, session.conf.get(EXTENSIONS, "") or "")[1]
    settings = jvm.entries_of(jvm.jvm_session(session).conf().getAll())
    catalogs, of_catalogs = changed_settings({key: value for key, value in settings.items() if is_catalog(key)})
    removals = [*extensions, *of_catalogs]
    loaded = [removal.value for removal in removals if _is_loadable(session, removal.value)]
    if loaded:
        raise UsageError(
            f"This Spark session was started with Apache Hudi's own classes ({', '.join(loaded)}), so both implementations would process"
            " its statements. Stop it, and start it by pyhudi.enable(SparkSession.builder).getOrCreate(), which removes Hudi's settings, or"
            f" remove them yourself: {EXTENSIONS}, {CATALOG}, and the bundle from spark.jars.packages, spark.jars and --packages."
        )
    for key, value in catalogs.items():
        session.conf.unset(key)
        session.conf.set(key, value)
    _report(removals)


def stated_without_jar(key: str, value: str) -> str:
    """Return a value that a running session is given for a setting, without what names Apache Hudi's jar; what was removed is logged."""
    cleaned, removals = without_jar(key, value)
    _report(removals)
    return cleaned


def _is_loadable(session: SparkSession, name: str) -> bool:
    java = session._jvm  # noqa: SLF001 - py4j's entry point has no public name
    return bool(java.org.apache.spark.util.Utils.classIsLoadable(name))  # type: ignore[union-attr]


def _report(removals: Iterable[Removal]) -> None:
    for removal in removals:
        _log.info("%s", removal)


def _inherited_settings() -> dict[str, str]:
    """Return the settings that a new session gets from outside of its builder."""
    if runs_java():
        # The JVM runs already: it knows what spark-submit and spark-defaults.conf say.
        SparkContext._ensure_initialized()  # noqa: SLF001
        return dict(SparkConf().getAll())
    return file_settings(split_arguments(os.environ.get(_SUBMIT_ARGS, "")))


def file_settings(arguments: Sequence[str]) -> dict[str, str]:
    """Return the settings of the file that Spark reads when it is started with arguments of `spark-submit`; none where it has no file."""
    folder = os.environ.get("SPARK_CONF_DIR") or posixpath.join(_find_spark_home(), "conf")  # type: ignore[no-untyped-call]
    path = posixpath.join(folder, "spark-defaults.conf")
    for flag, value in itertools.pairwise(arguments):
        if flag == "--properties-file":
            path = value
    path = os.path.realpath(path)  # spark-submit takes no URI here
    return parse_properties(read_named_file(path, "file of Spark's settings")) if named_file_exists(path) else {}
