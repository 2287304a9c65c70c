"""The one Java class of pyhudi, put into the JVM of a Spark session: the source name `hudi` and the rule of the analyzer behind it.

The class is shipped as text (`java/hudi/DefaultSource.java`) and compiled by Janino, the compiler with which Spark itself compiles the code
that it generates: no build step, no Scala, no JDK, and always against the Spark that runs. It is defined in the class loader of Spark's
own classes, because Spark looks a source up by name through whatever loader its current thread has.
Design: docs/design/0031-tables-inside-the-jvm.md.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from py4j.clientserver import ClientServer
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from pyhudi.errors import UnsupportedError
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject

SOURCE = "hudi.DefaultSource"


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


@lru_cache(maxsize=2)
def _source(java: JavaObject, gateway: JavaObject) -> JavaObject:
    loader = _java_class(java, "org.apache.spark.sql.SparkSession").getClassLoader()
    if not _is_defined(loader):
        try:
            _define(java, gateway, loader)
        except Py4JJavaError as error:
            raise UnsupportedError(
                f"Spark's JVM does not accept pyhudi's class {SOURCE}, without which names of Hudi tables cannot be resolved:"
                f" {error.java_exception}. Start Spark by its own scripts, which open java.base/java.lang to it (--add-opens)."
            ) from error
    return jvm.class_in(java, SOURCE)()


def _is_defined(loader: JavaObject) -> bool:
    try:
        loader.loadClass(SOURCE)
    except Py4JJavaError:
        return False
    return True


def _define(java: JavaObject, gateway: JavaObject, loader: JavaObject) -> None:
    compiler = jvm.class_in(java, "org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(loader)
    compiler.cook(resources.files("pyhudi.spark").joinpath("java/hudi/DefaultSource.java").read_text("utf-8"))
    codes = compiler.getBytecodes()

    def array(kind: str, *items: object) -> JavaObject:
        made = gateway.new_array(jvm.class_in(java, kind), len(items))
        for number, item in enumerate(items):
            made[number] = item
        return made

    integer = jvm.class_in(java, "java.lang.Integer").TYPE
    types = array("java.lang.Class", _java_class(java, "java.lang.String"), _java_class(java, "[B"), integer, integer)
    define = _java_class(java, "java.lang.ClassLoader").getDeclaredMethod("defineClass", types)
    define.setAccessible(True)
    # A superclass or an interface is looked up while a class is defined; none of these extends another of them.
    for name in codes.keySet().toArray():
        code = codes.get(name)
        define.invoke(loader, array("java.lang.Object", name, code, 0, len(code)))


def _java_class(java: JavaObject, name: str) -> JavaObject:
    """Return the `java.lang.Class` of a name."""
    return jvm.class_in(java, "java.lang.Class").forName(name)
