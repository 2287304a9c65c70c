"""The Java classes of pyhudi, put into the JVM of a Spark session: the source name `hudi` with the rule of the analyzer behind it, a
catalog of another name that is the session catalog, and the formats of the scans of bootstrapped and of widened tables.

The classes are shipped as text (`java/hudi`) and compiled by Janino, the compiler with which Spark itself compiles the code that it
generates: no build step, no Scala, no JDK, and always against the Spark that runs. They are defined in the class loader of Spark's
own classes, because Spark looks a source up by name through whatever loader its current thread has. Executors that are other processes get
the formats in a jar, which the formats themselves add to the context.
Design: docs/design/0031-tables-inside-the-jvm.md, docs/design/0184-skeletons-in-sparks-scan.md.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from py4j.clientserver import ClientServer
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from pyhudi.errors import UnsupportedError
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject

SOURCE = "hudi.DefaultSource"
_WIDENED = "hudi.WidenedFormat"
_SKELETONS = "hudi.SkeletonFormat"
_JAR = "hudi.ExecutorJar"
#: The classes of the source and those of the formats, each in a file of its own; a class comes after those that it extends.
_OF_SOURCE = (
    SOURCE,
    "hudi.AliasedNames",
    "hudi.CatalogAlias",
    "hudi.HudiFiles",
    "hudi.RefusedCommands",
    "hudi.ScanOfTable",
    "hudi.UnresolvedFiles",
)
_OF_FORMATS = (
    _WIDENED,
    "hudi.ColumnWidening",
    "hudi.WidenedReader",
    "hudi.WidenedRows",
    "hudi.WidenedVector",
    "hudi.Widening",
    "hudi.WideningPlan",
    _SKELETONS,
    "hudi.ColumnPlan",
    "hudi.Footers",
    "hudi.Skeleton",
    "hudi.SkeletonReader",
    "hudi.SkeletonRows",
    _JAR,
)


def install(session: SparkSession, resolver: object) -> None:
    """Let a session, and all that Spark makes from it later on, ask Python for the plans of Hudi tables.

    Args:
        session: A classic session.
        resolver: Implements `hudi.DefaultSource.Resolver`.

    Raises:
        UnsupportedError: the JVM does not accept the class, or PySpark runs without pinned threads.
    """
    gateway = session.sparkContext._gateway  # noqa: SLF001 - no public name
    if not isinstance(gateway, ClientServer):
        raise UnsupportedError(
            "pyhudi needs PySpark's pinned threads, since it answers the JVM on the thread that asked: leave out PYSPARK_PIN_THREAD=false."
        )
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    source(session).install(jvm.jvm_session(session), resolver)


def source(session: SparkSession) -> JavaObject:
    """Return an object of the class, whose methods are what Python asks of it: py4j asks twice for each method of a class.

    Raises:
        UnsupportedError: the JVM does not accept the class.
    """
    return source_of(session.sparkContext)


def source_of(context: SparkContext) -> JavaObject:
    """Return the object of the JVM behind a Spark context."""
    return _source(context._jvm, context._gateway)  # noqa: SLF001 - no public names


def file_format(session: SparkSession, forms: StructType, *, has_skeletons: bool, has_others: bool = True) -> JavaObject:
    """Return the format of files some of which have columns of narrower types than the table, or have skeletons.

    Args:
        session: A classic session.
        forms: For each form of files from 1 on, a struct of the columns that are narrower in it (`hudi.WidenedFormat`).
        has_skeletons: Whether some of the files may be sources of skeletons.
        has_others: Whether some may be none.

    Raises:
        UnsupportedError: the JVM does not accept the class.
    """
    context = session.sparkContext
    _define_formats(context._jvm, context._gateway)  # noqa: SLF001 - no public names
    made = jvm.java_class(session, _SKELETONS if has_skeletons else _WIDENED)()
    if forms.fields:
        made.setForms(jvm.java_class(session, "org.apache.spark.sql.types.DataType").fromJson(forms.json()))
    if has_skeletons and not has_others:
        made.setOfSkeletons()
    return made


@lru_cache(maxsize=2)
def _source(java: JavaObject, gateway: JavaObject) -> JavaObject:
    _compiled(java, gateway, _OF_SOURCE, "names of Hudi tables cannot be resolved")
    return jvm.class_in(java, SOURCE)()


@lru_cache(maxsize=2)
def _define_formats(java: JavaObject, gateway: JavaObject) -> None:
    codes = _compiled(java, gateway, _OF_FORMATS, "tables that were bootstrapped or widened cannot be read")
    if codes is not None:
        jvm.class_in(java, _JAR).make(codes)


def _compiled(java: JavaObject, gateway: JavaObject, names: tuple[str, ...], otherwise: str) -> JavaObject | None:
    """Compile and define classes with those in them, and return their bytes by file names; None when the JVM has the first."""
    loader = _java_class(java, "org.apache.spark.sql.SparkSession").getClassLoader()
    if _is_defined(loader, names[0]):
        return None
    try:
        codes = _compile(java, gateway, loader, names)
        _define(java, gateway, loader, codes, names)
    except Py4JJavaError as error:
        raise UnsupportedError(
            f"Spark's JVM does not accept pyhudi's class {names[0]}, without which {otherwise}: {error.java_exception}. Start Spark by its"
            " own scripts, which open java.base/java.lang to it (--add-opens)."
        ) from error
    return codes


def _is_defined(loader: JavaObject, name: str) -> bool:
    try:
        loader.loadClass(name)
    except Py4JJavaError:
        return False
    return True


def _compile(java: JavaObject, gateway: JavaObject, loader: JavaObject, names: tuple[str, ...]) -> JavaObject:
    """Compile files that may name one another; no other source is looked for."""
    util = "org.codehaus.commons.compiler.util.resource"
    paths = [f"{name.replace('.', '/')}.java" for name in names]
    contents = [resources.files("pyhudi.spark").joinpath("java", path).read_text("utf-8") for path in paths]
    sources = [jvm.class_in(java, f"{util}.StringResource")(path, text) for path, text in zip(paths, contents, strict=True)]
    made = jvm.class_in(java, f"{util}.MapResourceCreator")()
    compiler = jvm.class_in(java, "org.codehaus.janino.Compiler")(
        jvm.class_in(java, f"{util}.PathResourceFinder")(_array(java, gateway, "java.io.File")),
        jvm.class_in(java, "org.codehaus.janino.ClassLoaderIClassLoader")(loader),
    )
    compiler.setClassFileCreator(made)
    compiler.compile(_array(java, gateway, f"{util}.Resource", *sources))
    return made.getMap()


def _define(java: JavaObject, gateway: JavaObject, loader: JavaObject, codes: JavaObject, names: tuple[str, ...]) -> None:
    integer = jvm.class_in(java, "java.lang.Integer").TYPE
    kinds = (_java_class(java, "java.lang.String"), _java_class(java, "[B"), integer, integer)
    define = _java_class(java, "java.lang.ClassLoader").getDeclaredMethod("defineClass", _array(java, gateway, "java.lang.Class", *kinds))
    define.setAccessible(True)
    by_name = {path.removesuffix(".class").replace("/", "."): path for path in codes.keySet().toArray()}
    # A superclass or an interface is looked up while a class is defined; classes within others extend none of these.
    for name in [*names, *by_name.keys() - set(names)]:
        code = codes.get(by_name[name])
        define.invoke(loader, _array(java, gateway, "java.lang.Object", name, code, 0, len(code)))


def _array(java: JavaObject, gateway: JavaObject, kind: str, *items: object) -> JavaObject:
    made = gateway.new_array(jvm.class_in(java, kind), len(items))
    for number, item in enumerate(items):
        made[number] = item
    return made


def _java_class(java: JavaObject, name: str) -> JavaObject:
    """Return the `java.lang.Class` of a name."""
    return jvm.class_in(java, "java.lang.Class").forName(name)
